// Hands the lock from one waiting coroutine to the next.
#include "router/session/async_mutex.h"

#include <algorithm>

#include "base/status.h"

namespace evenkeel::router {
namespace {

// Locks that nobody uses are swept when a table has grown to this many.
constexpr size_t kSweepCount = 64;

}  // namespace

bool AsyncMutex::TryLock() {
  absl::MutexLock lock(&mutex_);
  return !std::exchange(held_, true);
}

Awaitable<absl::StatusOr<AsyncMutex::Guard>> AsyncMutex::Lock(std::shared_ptr<AsyncMutex> mutex,
                                                              CallScope scope) {
  std::shared_ptr<base::Event> turn;
  {
    absl::MutexLock lock(&mutex->mutex_);
    if (!std::exchange(mutex->held_, true)) co_return Guard(mutex);
    turn = std::make_shared<base::Event>();
    mutex->waiting_.push_back(turn);
  }
  const absl::Status status = co_await turn->Wait(scope.deadline, scope.cancelled);
  if (status.ok()) co_return Guard(mutex);
  bool handed_over = false;
  {
    absl::MutexLock lock(&mutex->mutex_);
    const auto found = std::find(mutex->waiting_.begin(), mutex->waiting_.end(), turn);
    handed_over = found == mutex->waiting_.end();
    if (!handed_over) mutex->waiting_.erase(found);
  }
  // The turn came just when the wait gave up: pass it on.
  if (handed_over) mutex->Unlock();
  co_return status;
}

void AsyncMutex::Unlock() {
  std::shared_ptr<base::Event> next;
  {
    absl::MutexLock lock(&mutex_);
    if (waiting_.empty()) {
      held_ = false;
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next->Set();
}

Awaitable<absl::StatusOr<AsyncMutex::Guard>> NamedLocks::Lock(std::string name, CallScope scope) {
  std::shared_ptr<AsyncMutex> mutex;
  {
    absl::MutexLock lock(&mutex_);
    if (locks_.size() >= kSweepCount) {
      absl::erase_if(locks_, [](const auto& entry) { return entry.second.expired(); });
    }
    std::weak_ptr<AsyncMutex>& slot = locks_[name];
    mutex = slot.lock();
    if (!mutex) {
      mutex = std::make_shared<AsyncMutex>();
      slot = mutex;
    }
  }
  co_return co_await AsyncMutex::Lock(std::move(mutex), std::move(scope));
}

Awaitable<absl::StatusOr<std::vector<AsyncMutex::Guard>>> NamedLocks::LockAll(
    std::vector<std::string> names, CallScope scope) {
  std::sort(names.begin(), names.end());
  std::vector<AsyncMutex::Guard> guards;
  for (const std::string& name : names) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(AsyncMutex::Guard guard, co_await Lock(name, scope));
    guards.push_back(std::move(guard));
  }
  co_return guards;
}

size_t NamedLocks::size() const {
  absl::MutexLock lock(&mutex_);
  return locks_.size();
}

}  // namespace evenkeel::router
