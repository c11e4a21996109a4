// Queues of waiting coroutines by key.
#include "shard/command/keyed_locks.h"

namespace evenkeel::shard {

Awaitable<KeyedLocks::Guard> KeyedLocks::Lock(uint64_t key) {
  std::shared_ptr<base::Event> turn;
  {
    absl::MutexLock lock(&mutex_);
    auto [entry, fresh] = held_.try_emplace(key);
    if (!fresh) {
      turn = std::make_shared<base::Event>();
      entry->second.push_back(turn);
    }
  }
  if (turn) (void)co_await turn->Wait();  // ownership is handed over by Unlock
  co_return Guard(this, key);
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
