// Grants bytes in order of arrival.
#include "base/async/byte_budget.h"

#include <algorithm>

#include "base/async/wait.h"
#include "base/status.h"

namespace evenkeel::base {

struct ByteBudget::Waiter {
  explicit Waiter(size_t wanted) : bytes(wanted) {}
  const size_t bytes;
  bool granted = false;  // under the budget's mutex
  Event ready;
};

ByteBudget::Grant& ByteBudget::Grant::operator=(Grant&& other) noexcept {
  if (this != &other) {
    Reset();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void ByteBudget::Grant::Reset() {
  if (budget_ != nullptr) budget_->Release(bytes_);
  budget_ = nullptr;
  bytes_ = 0;
}

bool ByteBudget::FitsLocked(size_t bytes) const {
  const auto wanted = static_cast<int64_t>(std::min(bytes, bytes_max_));
  return free_ >= wanted;
}

void ByteBudget::ChangeLocked(int64_t bytes) {
  free_ += bytes;
  overdrawn_.store(free_ < 0, std::memory_order_relaxed);
}

ByteBudget::Grant ByteBudget::TryAcquire(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (!waiters_.empty() || !FitsLocked(bytes)) return {};
  ChangeLocked(-static_cast<int64_t>(bytes));
  return Grant(this, bytes);
}

ByteBudget::Grant ByteBudget::Force(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  ChangeLocked(-static_cast<int64_t>(bytes));
  return Grant(this, bytes);
}

boost::asio::awaitable<absl::StatusOr<ByteBudget::Grant>> ByteBudget::Acquire(
    size_t bytes, absl::Time deadline, CancellationToken cancelled) {
  std::shared_ptr<Waiter> waiter;
  {
    absl::MutexLock lock(&mutex_);
    if (waiters_.empty() && FitsLocked(bytes)) {
      ChangeLocked(-static_cast<int64_t>(bytes));
      co_return Grant(this, bytes);
    }
    waiter = std::make_shared<Waiter>(bytes);
    waiters_.push_back(waiter);
  }
  absl::Status status = co_await waiter->ready.Wait(deadline, std::move(cancelled));
  absl::MutexLock lock(&mutex_);
  // Granted at the same moment as the deadline: the bytes are ours.
  if (waiter->granted) co_return Grant(this, bytes);
  waiters_.erase(std::find(waiters_.begin(), waiters_.end(), waiter));
  ServeLocked();
  co_return status;
}

void ByteBudget::Release(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  ChangeLocked(static_cast<int64_t>(bytes));
  ServeLocked();
}

void ByteBudget::ServeLocked() {
  while (!waiters_.empty() && FitsLocked(waiters_.front()->bytes)) {
    const std::shared_ptr<Waiter> waiter = std::move(waiters_.front());
    waiters_.pop_front();
    ChangeLocked(-static_cast<int64_t>(waiter->bytes));
    waiter->granted = true;
    waiter->ready.Set();
  }
}

size_t ByteBudget::HeldBytes() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<size_t>(static_cast<int64_t>(bytes_max_) - free_);
}

}  // namespace evenkeel::base
