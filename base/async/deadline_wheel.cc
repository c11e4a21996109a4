// The wheel's lists and its thread.
#include "base/async/deadline_wheel.h"

#include <algorithm>
#include <chrono>

namespace evenkeel::base {

DeadlineWheel::DeadlineWheel() : thread_("deadlines", [this] { Run(); }) {}

DeadlineWheel::~DeadlineWheel() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  thread_.Join();
}

DeadlineWheel& DeadlineWheel::Instance() {
  static DeadlineWheel* const wheel = new DeadlineWheel();
  return *wheel;
}

uint64_t DeadlineWheel::TicksNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(now / absl::ToChronoNanoseconds(kTick));
}

void DeadlineWheel::Add(Node& node, absl::Duration left, std::shared_ptr<DeadlineTarget> target,
                        uint64_t id) {
  const auto ticks = static_cast<uint64_t>(std::max<int64_t>(left / kTick, 0));
  const uint64_t now = TicksNow();
  node.wheel_ = this;
  absl::MutexLock lock(&mutex_);
  if (count_++ == 0)
    now_ = std::max(now_, now - 1);  // nothing was missed while the wheel was empty
  node.tick_ = std::max(now + ticks + 1, now_ + 1);
  node.target_ = std::move(target);
  node.id_ = id;
  Node*& head = slots_[node.tick_ % kSlots];
  node.next_ = head;
  if (head != nullptr) head->previous_ = &node;
  head = &node;
  if (asleep_) changed_.Signal();
}

bool DeadlineWheel::Remove(Node& node) {
  node.wheel_ = nullptr;
  absl::MutexLock lock(&mutex_);
  if (node.target_ == nullptr) return false;
  node.target_.reset();
  UnlinkLocked(node);
  return true;
}

void DeadlineWheel::UnlinkLocked(Node& node) {
  if (node.previous_ != nullptr) {
    node.previous_->next_ = node.next_;
  } else {
    slots_[node.tick_ % kSlots] = node.next_;
  }
  if (node.next_ != nullptr) node.next_->previous_ = node.previous_;
  node.previous_ = node.next_ = nullptr;
  --count_;
}

void DeadlineWheel::TakeDueLocked(uint64_t tick, Due& due) {
  Node* next = nullptr;
  for (Node* node = slots_[tick % kSlots]; node != nullptr; node = next) {
    next = node->next_;
    if (node->tick_ > tick) continue;
    due.emplace_back(std::move(node->target_), node->id_);
    node->target_.reset();
    UnlinkLocked(*node);
  }
}

void DeadlineWheel::WaitForTickLocked() {
  if (count_ > 0) empty_ticks_ = 0;
  if (empty_ticks_++ < kTicksBeforeSleep) {
    changed_.WaitWithTimeout(&mutex_, kTick);
    return;
  }
  asleep_ = true;
  while (count_ == 0 && !stopping_) changed_.Wait(&mutex_);
  asleep_ = false;
  empty_ticks_ = 0;
}

void DeadlineWheel::Run() {
  Due due;
  for (;;) {
    {
      absl::MutexLock lock(&mutex_);
      WaitForTickLocked();
      if (stopping_) return;
      const uint64_t now = TicksNow();
      // A thread that was held up for more than a turn need look at each slot only once.
      const uint64_t first = now - std::min<uint64_t>(now - std::min(now, now_), kSlots) + 1;
      if (count_ > 0) {
        for (uint64_t tick = first; tick <= now; ++tick) TakeDueLocked(tick, due);
      }
      now_ = std::max(now_, now);
    }
    for (const auto& [target, id] : due) target->DeadlinePassed(id);
    due.clear();
  }
}

}  // namespace evenkeel::base
