// The harness for tests that run the router's coroutines themselves.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/status.h"
#include "router/retry.h"
#include "router/router.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {

class AwaitTest : public RouterTest {
 protected:
  using RouterTest::RouterTest;
  // Runs a coroutine to its end.
  template <typename T>
  T Await(Awaitable<T> work) {
    auto result = std::make_shared<std::optional<T>>();
    AwaitVoid(Keep(std::move(work), result));
    return *std::move(*result);
  }
  void AwaitVoid(Awaitable<void> work);

 private:
  template <typename T>
  static Awaitable<void> Keep(Awaitable<T> work, std::shared_ptr<std::optional<T>> out) {
    out->emplace(co_await std::move(work));
  }
};

// A message without sequences.
wire::Message MessageFrom(bson::Document body);

}  // namespace evenkeel::router
