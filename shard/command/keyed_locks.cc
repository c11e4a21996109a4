// Queues of waiting coroutines by key.
#include "shard/command/keyed_locks.h"

#include <algorithm>

namespace evenkeel::shard {

Awaitable<absl::StatusOr<KeyedLocks::Guard>> KeyedLocks::Lock(uint64_t key, absl::Time deadline,
                                                              base::CancellationToken cancelled) {
  std::shared_ptr<base::Event> turn;
  {
    absl::MutexLock lock(&mutex_);
    auto [entry, fresh] = held_.try_emplace(key);
    if (!fresh) {
      turn = std::make_shared<base::Event>();
      entry->second.push_back(turn);
    }
  }
  if (turn == nullptr) co_return Guard(this, key);
  const absl::Status status = co_await turn->Wait(deadline, std::move(cancelled));
  if (!status.ok() && Leave(key, turn)) co_return status;
  Guard guard(this, key);  // Unlock has handed it over
  if (!status.ok()) co_return status;
  co_return guard;
}

bool KeyedLocks::Leave(uint64_t key, const std::shared_ptr<base::Event>& turn) {
  absl::MutexLock lock(&mutex_);
  auto entry = held_.find(key);
  if (entry == held_.end()) return false;
  auto& queue = entry->second;
  const auto place = std::find(queue.begin(), queue.end(), turn);
  if (place == queue.end()) return false;
  queue.erase(place);
  return true;
}

void KeyedLocks::Unlock(uint64_t key) {
  absl::MutexLock lock(&mutex_);
  auto entry = held_.find(key);
  if (entry->second.empty()) {
    held_.erase(entry);
    return;
  }
  entry->second.front()->Set();
  entry->second.pop_front();
}

}  // namespace evenkeel::shard
