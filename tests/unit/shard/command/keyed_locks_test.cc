// Tests of mutual exclusion between coroutines.
#include "shard/command/keyed_locks.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/status.h"
#include "tests/unit/base/async/run.h"

namespace evenkeel::shard {
namespace {

Awaitable<void> Pass() { co_await base::SwitchTo(co_await boost::asio::this_coro::executor); }

// Takes the key, writes its number at the beginning and the end of its turn.
Awaitable<void> Turn(KeyedLocks& locks, uint64_t key, int number, std::vector<int>& log) {
  const absl::StatusOr<KeyedLocks::Guard> guard = co_await locks.Lock(key);
  EXPECT_TRUE(guard.ok() && guard->held());
  log.push_back(number);
  for (int i = 0; i < 3; ++i) co_await Pass();
  log.push_back(number);
}

Awaitable<void> RunTurns(KeyedLocks& locks, std::vector<std::pair<uint64_t, int>> turns,
                         std::vector<int>& log) {
  std::vector<std::function<Awaitable<void>()>> tasks;
  for (const auto& [key, number] : turns) {
    tasks.emplace_back(
        [&locks, &log, key = key, number = number] { return Turn(locks, key, number, log); });
  }
  co_await base::WhenAll(std::move(tasks));
}

TEST(KeyedLocks, OneAfterTheOtherInOrderOfArrival) {
  KeyedLocks locks;
  std::vector<int> log;
  base::RunToEnd(RunTurns(locks, {{7, 1}, {7, 2}, {7, 3}}, log));
  EXPECT_EQ(log, (std::vector{1, 1, 2, 2, 3, 3}));
  log.clear();
  base::RunToEnd(RunTurns(locks, {{7, 4}}, log));  // free again
  EXPECT_EQ(log, (std::vector{4, 4}));
}

TEST(KeyedLocks, DifferentKeysDoNotWaitForEachOther) {
  KeyedLocks locks;
  std::vector<int> log;
  base::RunToEnd(RunTurns(locks, {{7, 1}, {8, 2}}, log));
  EXPECT_EQ(log, (std::vector{1, 2, 1, 2}));
}

TEST(KeyedLocks, AGuardThatIsMovedHoldsOnce) {
  KeyedLocks locks;
  auto test = [](KeyedLocks& l) -> Awaitable<void> {
    auto locked = co_await l.Lock(1);
    KeyedLocks::Guard first = *std::move(locked);
    KeyedLocks::Guard second = std::move(first);
    EXPECT_FALSE(first.held());  // NOLINT(bugprone-use-after-move): that is what is tested
    EXPECT_TRUE(second.held());
    second = KeyedLocks::Guard();
    EXPECT_TRUE((co_await l.Lock(1)).ok());
  };
  base::RunToEnd(test(locks));
}

// Those behind a waiter that gives up are not kept waiting by it.
TEST(KeyedLocks, AWaiterMayGiveUp) {
  KeyedLocks locks;
  std::vector<int> log;
  auto give_up = [](KeyedLocks& l, base::CancellationToken token) -> Awaitable<void> {
    EXPECT_EQ(CodeOf((co_await l.Lock(7, absl::InfiniteFuture(), token)).status()),
              ErrorCode::kInterrupted);
  };
  auto cancel = [](base::CancellationSource& source) -> Awaitable<void> {
    co_await Pass();
    source.Cancel();
  };
  auto test = [&]() -> Awaitable<void> {
    base::CancellationSource source;
    std::vector<std::function<Awaitable<void>()>> tasks;
    tasks.emplace_back([&] { return Turn(locks, 7, 1, log); });
    tasks.emplace_back([&] { return give_up(locks, source.token()); });
    tasks.emplace_back([&] { return Turn(locks, 7, 2, log); });
    tasks.emplace_back([&] { return cancel(source); });
    co_await base::WhenAll(std::move(tasks));
  };
  base::RunToEnd(test());
  EXPECT_EQ(log, (std::vector{1, 1, 2, 2}));
  log.clear();
  base::RunToEnd(RunTurns(locks, {{7, 3}}, log));
  EXPECT_EQ(log, (std::vector{3, 3}));
}

}  // namespace
}  // namespace evenkeel::shard
