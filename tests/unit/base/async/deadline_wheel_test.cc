// Tests of the wheel of deadlines.
#include "base/async/deadline_wheel.h"

#include <absl/synchronization/notification.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace evenkeel::base {
namespace {

class Target final : public DeadlineTarget {
 public:
  void DeadlinePassed(uint64_t id) override {
    absl::MutexLock lock(&mutex_);
    fired_.push_back(id);
  }
  void AwaitCount(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&] { return fired_.size() >= count; };
    mutex_.Await(absl::Condition(&enough));
  }
  std::vector<uint64_t> fired() {
    absl::MutexLock lock(&mutex_);
    return fired_;
  }

 private:
  absl::Mutex mutex_;
  std::vector<uint64_t> fired_;
};

TEST(DeadlineWheel, FiresInOrderOfDeadlines) {
  auto wheel = std::make_unique<DeadlineWheel>();
  const auto target = std::make_shared<Target>();
  DeadlineWheel::Node late;
  DeadlineWheel::Node soon;
  DeadlineWheel::Node never;
  wheel->Add(late, absl::Milliseconds(60), target, 1);
  wheel->Add(soon, absl::ZeroDuration(), target, 2);
  wheel->Add(never, absl::Hours(24 * 365), target, 3);
  target->AwaitCount(2);
  EXPECT_EQ(target->fired(), (std::vector<uint64_t>{2, 1}));
  EXPECT_FALSE(wheel->Remove(soon));
  EXPECT_FALSE(wheel->Remove(late));
  EXPECT_TRUE(wheel->Remove(never));
  wheel.reset();  // its thread lets go of what has fired when it has fired all
  EXPECT_EQ(target.use_count(), 1);
}

TEST(DeadlineWheel, RemovedAndDestroyedNodesDoNotFire) {
  DeadlineWheel wheel;
  const auto target = std::make_shared<Target>();
  std::vector<std::optional<DeadlineWheel::Node>> nodes(9);
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].emplace();
    wheel.Add(*nodes[i], absl::Milliseconds(30), target, i);  // all in one or two slots
  }
  EXPECT_TRUE(wheel.Remove(*nodes[0]));
  EXPECT_TRUE(wheel.Remove(*nodes[8]));
  EXPECT_TRUE(wheel.Remove(*nodes[4]));
  nodes[5].reset();
  DeadlineWheel::Node last;
  wheel.Add(last, absl::Milliseconds(60), target, 100);
  target->AwaitCount(6);
  std::vector<uint64_t> fired = target->fired();
  std::sort(fired.begin(), fired.end());
  EXPECT_EQ(fired, (std::vector<uint64_t>{1, 2, 3, 6, 7, 100}));
}

TEST(DeadlineWheel, PassesOverNodesOfLaterTurns) {
  DeadlineWheel wheel;
  const auto target = std::make_shared<Target>();
  DeadlineWheel::Node far;
  DeadlineWheel::Node near;
  // The same slot, one turn later.
  wheel.Add(far, 4096 * DeadlineWheel::kTick + absl::Milliseconds(5), target, 1);
  wheel.Add(near, absl::Milliseconds(25), target, 2);
  target->AwaitCount(1);
  EXPECT_EQ(target->fired(), (std::vector<uint64_t>{2}));
  EXPECT_TRUE(wheel.Remove(far));
}

}  // namespace
}  // namespace evenkeel::base
