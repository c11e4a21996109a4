// Cancellation: a source that fires once, tokens that many hold. Passed on by every call that may
// wait.
//
// Any thread may fire, ask, register and forget.
//
// Invariants
//   I1  A callback runs at most once.
//   I2  After Forget has returned the callback is not running and will not run, unless Forget was
//   called by it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace evenkeel::base {

class CancellationState;  // shared by a source and its tokens

// A cheap copyable handle. Default-constructed: never cancelled. Any thread.
class CancellationToken {
 public:
  CancellationToken() = default;
  explicit CancellationToken(std::shared_ptr<CancellationState> state) : state_(std::move(state)) {}
  // False for a default-constructed token: nothing needs to be registered.
  bool CanBeCancelled() const { return state_ != nullptr; }
  bool IsCancelled() const;
  // Calls `callback` when the source fires (at once if it has): in the thread that fires. Returns
  // an id for Forget, 0 if nothing was kept. The callback must not wait for other threads.
  uint64_t OnCancel(std::function<void()> callback) const;
  // Takes a callback back; when it returns, the callback is not running and will not run.
  void Forget(uint64_t id) const;

 private:
  std::shared_ptr<CancellationState> state_;
};

// Fires its tokens. Not copyable: one owner decides.
class CancellationSource {
 public:
  CancellationSource();
  // Fires when `parent` fires too.
  explicit CancellationSource(const CancellationToken& parent);
  CancellationSource(const CancellationSource&) = delete;
  CancellationSource& operator=(const CancellationSource&) = delete;
  ~CancellationSource();
  CancellationToken token() const { return CancellationToken(state_); }
  // Runs the callbacks, then returns. More than once is harmless.
  void Cancel();

 private:
  std::shared_ptr<CancellationState> state_;
  CancellationToken parent_;
  uint64_t parent_id_ = 0;
};

}  // namespace evenkeel::base
