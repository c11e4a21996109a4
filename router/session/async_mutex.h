// A lock that coroutines wait for: in the order of arrival, to a deadline, until cancelled.
//
// Any thread. Holding it across a wait is what it is for; no thread ever blocks.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/hash_map.h"
#include "router/command.h"

namespace evenkeel::router {

class AsyncMutex {
 public:
  // Gives the lock back on destruction; an empty guard does nothing.
  class Guard {
   public:
    Guard() = default;
    explicit Guard(std::shared_ptr<AsyncMutex> mutex) : mutex_(std::move(mutex)) {}
    Guard(Guard&& other) noexcept : mutex_(std::move(other.mutex_)) {}
    Guard& operator=(Guard&& other) noexcept {
      std::swap(mutex_, other.mutex_);
      return *this;
    }
    ~Guard() {
      if (mutex_) mutex_->Unlock();
    }

   private:
    std::shared_ptr<AsyncMutex> mutex_;
  };

  // Takes the lock if nobody holds it; a Guard made of the mutex then gives it back.
  bool TryLock();
  // Takes the lock, waiting for those who came before. Errors: MaxTimeMSExpired, Interrupted.
  static Awaitable<absl::StatusOr<Guard>> Lock(std::shared_ptr<AsyncMutex> mutex, CallScope scope);

 private:
  void Unlock();

  absl::Mutex mutex_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::shared_ptr<base::Event>> waiting_ ABSL_GUARDED_BY(mutex_);
};

// One lock per name, kept while somebody holds it or waits for it.
class NamedLocks {
 public:
  // Errors: MaxTimeMSExpired, Interrupted, here and below.
  Awaitable<absl::StatusOr<AsyncMutex::Guard>> Lock(std::string name, CallScope scope);
  // In one order for all who do so.
  Awaitable<absl::StatusOr<std::vector<AsyncMutex::Guard>>> LockAll(std::vector<std::string> names,
                                                                    CallScope scope);
  size_t size() const;

 private:
  mutable absl::Mutex mutex_;
  base::StringMap<std::weak_ptr<AsyncMutex>> locks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::router
