// Tests of mutual exclusion between coroutines.
#include "shard/command/keyed_locks.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/status.h"
#include "tests/unit/base/async/run.h"

namespace evenkeel::shard {
namespace {

Awaitable<void> Pass() { co_await base::SwitchTo(co_await boost::asio::this_coro::executor); }

// What turns leave behind: who came in which order, who began and ended in which.
struct Log {
  std::vector<int> arrived, turns;
};

Awaitable<void> Turn(KeyedLocks& locks, uint64_t key, int number, Log& log) {
  log.arrived.push_back(number);
  const absl::StatusOr<KeyedLocks::Guard> guard = co_await locks.Lock(key);
  EXPECT_TRUE(guard.ok() && guard->held());
  log.turns.push_back(number);
  for (int i = 0; i < 3; ++i) co_await Pass();
  log.turns.push_back(number);
}

Awaitable<void> RunTurns(KeyedLocks& locks, std::vector<std::pair<uint64_t, int>> turns, Log& log) {
  std::vector<std::function<Awaitable<void>()>> tasks;
  for (const auto& [key, number] : turns) {
    tasks.emplace_back(
        [&locks, &log, key = key, number = number] { return Turn(locks, key, number, log); });
  }
  co_await base::WhenAll(std::move(tasks));
}

TEST(KeyedLocks, OneAfterTheOtherInOrderOfArrival) {
  KeyedLocks locks;
  for (int round = 0; round < 2; ++round) {  // the second time it is free again
    Log log;
    base::RunToEnd(RunTurns(locks, {{7, 1}, {7, 2}, {7, 3}}, log));
    ASSERT_EQ(log.arrived.size(), 3u);
    std::vector<int> expected;
    for (const int number : log.arrived) expected.insert(expected.end(), 2, number);
    EXPECT_EQ(log.turns, expected);
  }
}

TEST(KeyedLocks, DifferentKeysDoNotWaitForEachOther) {
  KeyedLocks locks;
  Log log;
  base::RunToEnd(RunTurns(locks, {{7, 1}, {8, 2}}, log));
  ASSERT_EQ(log.turns.size(), 4u);
  EXPECT_NE(log.turns[0], log.turns[1]);
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

Awaitable<void> GiveUp(KeyedLocks& locks, base::CancellationToken token) {
  const auto locked = co_await locks.Lock(7, absl::InfiniteFuture(), token);
  EXPECT_EQ(CodeOf(locked.status()), ErrorCode::kInterrupted);
}

// Holds the key until one waiter has given up and another one waits.
Awaitable<void> HoldAndCancel(KeyedLocks& locks, Log& log) {
  auto held = co_await locks.Lock(7);
  base::CancellationSource source;
  std::vector<std::function<Awaitable<void>()>> tasks;
  tasks.emplace_back([&] { return GiveUp(locks, source.token()); });
  tasks.emplace_back([&] { return Turn(locks, 7, 2, log); });
  tasks.emplace_back([&]() -> Awaitable<void> {
    for (int i = 0; i < 3; ++i) co_await Pass();
    source.Cancel();
    for (int i = 0; i < 3; ++i) co_await Pass();
    EXPECT_TRUE(log.turns.empty());
    *held = KeyedLocks::Guard();
  });
  co_await base::WhenAll(std::move(tasks));
}

// Those behind a waiter that gives up are not kept waiting by it.
TEST(KeyedLocks, AWaiterMayGiveUp) {
  KeyedLocks locks;
  Log log;
  base::RunToEnd(HoldAndCancel(locks, log));
  EXPECT_EQ(log.turns, (std::vector{2, 2}));
  base::RunToEnd(RunTurns(locks, {{7, 3}}, log));
  EXPECT_EQ(log.turns, (std::vector{2, 2, 3, 3}));
}

}  // namespace
}  // namespace evenkeel::shard
