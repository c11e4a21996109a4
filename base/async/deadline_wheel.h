// Deadlines of waits that nearly always end before: cheap to begin and to take back, coarse when
// they fire.
//
// A steady timer per wait costs more than the wait. Here a wait links a node into a slot of a wheel
// and unlinks it when it ends; one thread, asleep while there are no nodes, looks at a slot per
// tick. Any thread.
//
// Invariant: a node fires at most once, at its deadline or up to two ticks later, never after
// Remove has returned with true.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/thread.h"

namespace evenkeel::base {

// What fires.
class DeadlineTarget {
 public:
  virtual ~DeadlineTarget() = default;
  // In the wheel's thread; must not wait. `id` as given to Add.
  virtual void DeadlinePassed(uint64_t id) = 0;
};

class DeadlineWheel {
 public:
  // One wait's place in the wheel; lives in the waiter's frame and takes itself out.
  class Node {
   public:
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() {
      if (wheel_ != nullptr) wheel_->Remove(*this);
    }

   private:
    friend class DeadlineWheel;
    DeadlineWheel* wheel_ = nullptr;  // set by the owner's thread only
    Node* previous_ = nullptr;        // below: the wheel's mutex
    Node* next_ = nullptr;
    uint64_t tick_ = 0;
    uint64_t id_ = 0;
    std::shared_ptr<DeadlineTarget> target_;  // null once fired or removed
  };

  DeadlineWheel();
  ~DeadlineWheel();
  // The process's wheel; lives for ever.
  static DeadlineWheel& Instance();

  // Calls target->DeadlinePassed(id) when `left` has passed, unless the node is removed or
  // destroyed before. A node is added once.
  void Add(Node& node, absl::Duration left, std::shared_ptr<DeadlineTarget> target, uint64_t id);
  // False when the node has fired or is about to; else it will not fire any more.
  bool Remove(Node& node);

  static constexpr absl::Duration kTick = absl::Milliseconds(10);

 private:
  static constexpr size_t kSlots = 4096;  // 41 s; nodes further away are passed over once per turn
  static constexpr int kTicksBeforeSleep =
      200;  // so that single waits in a row do not wake the thread

  using Due = std::vector<std::pair<std::shared_ptr<DeadlineTarget>, uint64_t>>;

  static uint64_t TicksNow();
  void Run();
  void WaitForTickLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeDueLocked(uint64_t tick, Due& due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void UnlinkLocked(Node& node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::array<Node*, kSlots> slots_ ABSL_GUARDED_BY(mutex_) = {};
  uint64_t now_ ABSL_GUARDED_BY(mutex_) = 0;  // the tick that was looked at last
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  int empty_ticks_ ABSL_GUARDED_BY(mutex_) = 0;
  bool asleep_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Thread thread_;  // last: it uses the rest
};

}  // namespace evenkeel::base
