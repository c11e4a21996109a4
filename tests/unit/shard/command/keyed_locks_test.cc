// Tests of mutual exclusion between coroutines.
#include "shard/command/keyed_locks.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/base/async/run.h"

namespace evenkeel::shard {
namespace {

Awaitable<void> Pass() { co_await base::SwitchTo(co_await boost::asio::this_coro::executor); }

// Takes the key, writes its number at the beginning and the end of its turn.
Awaitable<void> Turn(KeyedLocks& locks, uint64_t key, int number, std::vector<int>& log) {
  const KeyedLocks::Guard guard = co_await locks.Lock(key);
  EXPECT_TRUE(guard.held());
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
    KeyedLocks::Guard first = co_await l.Lock(1);
    KeyedLocks::Guard second = std::move(first);
    EXPECT_FALSE(first.held());  // NOLINT(bugprone-use-after-move): that is what is tested
    EXPECT_TRUE(second.held());
    second = KeyedLocks::Guard();
    const KeyedLocks::Guard third = co_await l.Lock(1);
    EXPECT_TRUE(third.held());
  };
  base::RunToEnd(test(locks));
}

}  // namespace
}  // namespace evenkeel::shard
