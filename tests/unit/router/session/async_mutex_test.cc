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

// Who came and who had the lock, in order.
struct Notes {
  std::vector<int> came, had;
  base::Event all_came;
};

Awaitable<void> TakeAndNote(std::shared_ptr<AsyncMutex> mutex, int number, Notes* notes) {
  notes->came.push_back(number);
  if (notes->came.size() == 3) notes->all_came.Set();
  const auto guard = co_await AsyncMutex::Lock(mutex, {});
  notes->had.push_back(number);
}

Awaitable<void> ReleaseWhenAllCame(AsyncMutex::Guard held, Notes* notes) {
  (void)co_await notes->all_came.Wait();
  held = AsyncMutex::Guard();
}

Awaitable<void> Contend(std::shared_ptr<AsyncMutex> mutex, Notes* notes) {
  auto held = co_await AsyncMutex::Lock(mutex, {});
  std::vector<std::function<Awaitable<void>()>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.emplace_back([mutex, i, notes] { return TakeAndNote(mutex, i, notes); });
  }
  tasks.emplace_back([&held, notes] { return ReleaseWhenAllCame(*std::move(held), notes); });
  co_await base::WhenAll(std::move(tasks));
}

TEST_F(AsyncMutexTest, TheLockGoesToThoseWhoWaitInTheirOrder) {
  Notes notes;
  AwaitVoid(Contend(std::make_shared<AsyncMutex>(), &notes));
  EXPECT_EQ(notes.had.size(), 3u);
  EXPECT_EQ(notes.had, notes.came);
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
