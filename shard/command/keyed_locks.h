// Mutual exclusion between coroutines, by key: waiting suspends, never blocks a thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "base/async/wait.h"
#include "shard/command/service.h"

namespace evenkeel::shard {

class KeyedLocks {
 public:
  // Holds one key until it is destroyed. Default-constructed: nothing is held.
  class Guard {
   public:
    Guard() = default;
    Guard(KeyedLocks* locks, uint64_t key) : locks_(locks), key_(key) {}
    Guard(Guard&& other) noexcept
        : locks_(std::exchange(other.locks_, nullptr)), key_(other.key_) {}
    Guard& operator=(Guard&& other) noexcept {
      Release();
      locks_ = std::exchange(other.locks_, nullptr);
      key_ = other.key_;
      return *this;
    }
    ~Guard() { Release(); }
    bool held() const { return locks_ != nullptr; }

   private:
    void Release() {
      if (locks_ != nullptr) std::exchange(locks_, nullptr)->Unlock(key_);
    }
    KeyedLocks* locks_ = nullptr;
    uint64_t key_ = 0;
  };

  // Waits until the key is free, in order of arrival. Errors: MaxTimeMSExpired, Interrupted.
  Awaitable<absl::StatusOr<Guard>> Lock(uint64_t key, absl::Time deadline = absl::InfiniteFuture(),
                                        base::CancellationToken cancelled = {});

 private:
  void Unlock(uint64_t key);
  // False when the turn has come already.
  bool Leave(uint64_t key, const std::shared_ptr<base::Event>& turn);

  absl::Mutex mutex_;
  // A key is present while somebody holds it; the queue has those who wait.
  absl::flat_hash_map<uint64_t, std::deque<std::shared_ptr<base::Event>>> held_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::shard
