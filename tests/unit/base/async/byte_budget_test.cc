// Tests of the shared budget of bytes.
#include "base/async/byte_budget.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/async/wait.h"
#include "base/status.h"
#include "tests/unit/base/async/run.h"

namespace evenkeel::base {
namespace {

using boost::asio::awaitable;
using Grant = ByteBudget::Grant;
using Task = std::function<awaitable<void>()>;

TEST(ByteBudget, TakesAndGivesBack) {
  ByteBudget budget(100);
  {
    Grant first = budget.TryAcquire(60);
    EXPECT_EQ(first.bytes(), 60u);
    EXPECT_EQ(budget.TryAcquire(60).bytes(), 0u);
    const Grant moved = std::move(first);
    EXPECT_EQ(budget.HeldBytes(), 60u);
    const Grant forced = budget.Force(100);
    EXPECT_EQ(budget.HeldBytes(), 160u);
    EXPECT_TRUE(budget.IsOverdrawn());
  }
  EXPECT_EQ(budget.HeldBytes(), 0u);
  EXPECT_FALSE(budget.IsOverdrawn());
  EXPECT_EQ(budget.TryAcquire(100).bytes(), 100u);
}

TEST(ByteBudget, GrantsInOrder) {
  auto test = []() -> awaitable<void> {
    ByteBudget budget(100);
    std::optional<Grant> held = budget.TryAcquire(80);
    std::string order;
    std::vector<Task> tasks;
    tasks.push_back([&]() -> awaitable<void> {
      const auto grant = co_await budget.Acquire(90);
      EXPECT_TRUE(grant.ok());
      order += "large ";
    });
    tasks.push_back([&]() -> awaitable<void> {
      // Would fit at once, but must not overtake.
      EXPECT_EQ(budget.TryAcquire(10).bytes(), 10u)
          << "nobody waits yet: WhenAll starts the first task last";
      co_return;
    });
    tasks.push_back([&]() -> awaitable<void> {
      const auto grant = co_await budget.Acquire(30);
      EXPECT_TRUE(grant.ok());
      order += "small ";
    });
    tasks.push_back([&]() -> awaitable<void> {
      EXPECT_EQ(budget.TryAcquire(1).bytes(), 0u);
      held.reset();
      order += "released ";
      co_return;
    });
    co_await WhenAll(std::move(tasks));
    EXPECT_EQ(budget.HeldBytes(), 0u);
    EXPECT_TRUE(order.starts_with("released small")) << order;
  };
  RunToEnd(test());
}

TEST(ByteBudget, MoreThanEverythingIsGrantedAlone) {
  auto test = []() -> awaitable<void> {
    ByteBudget budget(100);
    auto huge = co_await budget.Acquire(1000);
    EXPECT_TRUE(huge.ok());
    EXPECT_EQ(budget.TryAcquire(1).bytes(), 0u);
    *huge = Grant();
    EXPECT_EQ(budget.HeldBytes(), 0u);
  };
  RunToEnd(test());
}

TEST(ByteBudget, WaitEndsByCancellationAndLetsOthersPass) {
  auto test = []() -> awaitable<void> {
    ByteBudget budget(100);
    const Grant held = budget.TryAcquire(50);
    CancellationSource source;
    std::vector<Task> tasks;
    tasks.push_back([&]() -> awaitable<void> {
      source.Cancel();
      co_return;
    });
    tasks.push_back([&]() -> awaitable<void> {
      const auto grant = co_await budget.Acquire(60, absl::InfiniteFuture(), source.token());
      EXPECT_EQ(CodeOf(grant.status()), ErrorCode::kInterrupted);
    });
    tasks.push_back([&]() -> awaitable<void> {
      const auto grant = co_await budget.Acquire(20);
      EXPECT_TRUE(grant.ok()) << "it waited only behind the one that gave up";
    });
    co_await WhenAll(std::move(tasks));
    EXPECT_EQ(budget.HeldBytes(), 50u);
  };
  RunToEnd(test());
}

}  // namespace
}  // namespace evenkeel::base
