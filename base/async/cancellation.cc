// The state behind cancellation sources and tokens.
#include "base/async/cancellation.h"

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace evenkeel::base {

class CancellationState {
 public:
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }

  uint64_t Add(std::function<void()> callback) {
    {
      absl::MutexLock lock(&mutex_);
      if (!IsCancelled()) {
        callbacks_.push_back({++last_id_, std::move(callback)});
        return last_id_;
      }
    }
    callback();
    return 0;
  }

  void Remove(uint64_t id) {
    absl::MutexLock lock(&mutex_);
    const auto found = std::find_if(callbacks_.begin(), callbacks_.end(),
                                    [id](const Callback& callback) { return callback.id == id; });
    if (found != callbacks_.end()) {
      callbacks_.erase(found);
      return;
    }
    // A callback that forgets itself must not wait for its own end.
    if (running_id_ == id && pthread_equal(running_thread_, pthread_self())) return;
    while (running_id_ == id) callback_ended_.Wait(&mutex_);
  }

  void Fire() {
    absl::MutexLock lock(&mutex_);
    if (IsCancelled()) return;
    cancelled_.store(true, std::memory_order_release);
    running_thread_ = pthread_self();
    while (!callbacks_.empty()) {
      Callback next = std::move(callbacks_.back());
      callbacks_.pop_back();
      running_id_ = next.id;
      mutex_.Unlock();
      next.call();
      next.call = nullptr;  // what it captured goes before anybody may rely on its end
      mutex_.Lock();
      running_id_ = 0;
      callback_ended_.SignalAll();
    }
  }

 private:
  struct Callback {
    uint64_t id;
    std::function<void()> call;
  };

  std::atomic<bool> cancelled_{false};
  absl::Mutex mutex_;
  absl::CondVar callback_ended_;
  std::vector<Callback> callbacks_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t running_id_ ABSL_GUARDED_BY(mutex_) = 0;
  pthread_t running_thread_ ABSL_GUARDED_BY(mutex_) = {};
};

bool CancellationToken::IsCancelled() const { return state_ != nullptr && state_->IsCancelled(); }

uint64_t CancellationToken::OnCancel(std::function<void()> callback) const {
  return state_ == nullptr ? 0 : state_->Add(std::move(callback));
}

void CancellationToken::Forget(uint64_t id) const {
  if (state_ != nullptr && id != 0) state_->Remove(id);
}

CancellationSource::CancellationSource() : state_(std::make_shared<CancellationState>()) {}

CancellationSource::CancellationSource(const CancellationToken& parent)
    : state_(std::make_shared<CancellationState>()), parent_(parent) {
  parent_id_ = parent_.OnCancel([state = state_] { state->Fire(); });
}

CancellationSource::~CancellationSource() { parent_.Forget(parent_id_); }

void CancellationSource::Cancel() { state_->Fire(); }

}  // namespace evenkeel::base
