// The lock of coroutines: order, deadlines, cancellation.
#include "router/session/async_mutex.h"

#include "base/status.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class AsyncMutexTest : public AwaitTest {
 protected:
  absl::StatusOr<AsyncMutex::Guard> Lock(const std::shared_ptr<AsyncMutex>& mutex,
                                         CallScope scope = {}) {
    return Await(AsyncMutex::Lock(mutex, std::move(scope)));
  }
};

TEST_F(AsyncMutexTest, AGuardGivesTheLockBack) {
  const auto mutex = std::make_shared<AsyncMutex>();
  {
    const auto guard = Lock(mutex);
    ASSERT_TRUE(guard.ok());
    EXPECT_FALSE(mutex->TryLock());
  }
  EXPECT_TRUE(mutex->TryLock());
}

TEST_F(AsyncMutexTest, AWaitEndsAtTheDeadlineAndLeavesTheQueue) {
  const auto mutex = std::make_shared<AsyncMutex>();
  auto held = Lock(mutex);
  CallScope scope;
  scope.deadline = absl::Now() + absl::Milliseconds(1);
  EXPECT_EQ(CodeOf(Lock(mutex, scope).status()), ErrorCode::kMaxTimeMSExpired);
  *held = AsyncMutex::Guard();
  EXPECT_TRUE(Lock(mutex).ok()) << "nobody waits any more";
}

TEST_F(AsyncMutexTest, ACancelledWaitEnds) {
  const auto mutex = std::make_shared<AsyncMutex>();
  const auto held = Lock(mutex);
  base::CancellationSource source;
  source.Cancel();
  CallScope scope;
  scope.cancelled = source.token();
  EXPECT_EQ(CodeOf(Lock(mutex, scope).status()), ErrorCode::kInterrupted);
}

Awaitable<void> TakeAndNote(std::shared_ptr<AsyncMutex> mutex, int number, std::vector<int>* order,
                            base::Event* started) {
  started->Set();
  const auto guard = co_await AsyncMutex::Lock(mutex, {});
  order->push_back(number);
}

TEST_F(AsyncMutexTest, TheLockGoesToThoseWhoWaitInTheirOrder) {
  const auto mutex = std::make_shared<AsyncMutex>();
  std::vector<int> order;
  AwaitVoid([](std::shared_ptr<AsyncMutex> m, std::vector<int>* out) -> Awaitable<void> {
    std::optional<AsyncMutex::Guard> held = *(co_await AsyncMutex::Lock(m, {}));
    base::Event started[3];
    std::vector<std::function<Awaitable<void>()>> tasks;
    for (int i = 0; i < 3; ++i) {
      tasks.emplace_back([&, i] { return TakeAndNote(m, i, out, &started[i]); });
    }
    tasks.emplace_back([&]() -> Awaitable<void> {
      return [](base::Event* last, std::optional<AsyncMutex::Guard>* guard) -> Awaitable<void> {
        (void)co_await last->Wait();
        guard->reset();
      }(&started[2], &held);
    });
    co_await base::WhenAll(std::move(tasks));
  }(mutex, &order));
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2));
}

TEST_F(AsyncMutexTest, NamedLocksAreApartAndDoNotPileUp) {
  NamedLocks locks;
  const auto a = Await(locks.Lock("a", {}));
  const auto b = Await(locks.Lock("b", {}));
  EXPECT_TRUE(a.ok() && b.ok());
  CallScope scope;
  scope.deadline = absl::Now() + absl::Milliseconds(1);
  EXPECT_FALSE(Await(locks.Lock("a", scope)).ok());
  for (int i = 0; i < 1000; ++i) (void)Await(locks.Lock(std::to_string(i), {}));
  EXPECT_LT(locks.size(), 100u);
}

}  // namespace
}  // namespace evenkeel::router
