// Waiting for transactions.
#include "shard/commit/transaction.h"

#include <utility>

namespace evenkeel::shard {

void Milestone::Reach() {
  std::vector<std::shared_ptr<base::Event>> waiting;
  {
    absl::MutexLock lock(&mutex_);
    reached_.store(true, std::memory_order_release);
    waiting.swap(waiting_);
  }
  for (const auto& event : waiting) event->Set();
}

Awaitable<absl::Status> Milestone::Wait(absl::Time deadline, base::CancellationToken cancelled) {
  std::shared_ptr<base::Event> event;
  {
    absl::MutexLock lock(&mutex_);
    if (reached()) co_return absl::OkStatus();
    event = std::make_shared<base::Event>();
    waiting_.push_back(event);
  }
  const absl::Status status = co_await event->Wait(deadline, std::move(cancelled));
  if (status.ok()) co_return status;
  absl::MutexLock lock(&mutex_);
  std::erase(waiting_, event);
  co_return status;
}

}  // namespace evenkeel::shard
