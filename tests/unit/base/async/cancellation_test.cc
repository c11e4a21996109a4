// Tests of cancellation sources and tokens.
#include "base/async/cancellation.h"

#include <absl/synchronization/notification.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "base/thread.h"

namespace evenkeel::base {
namespace {

TEST(CancellationToken, DefaultIsNeverCancelled) {
  const CancellationToken token;
  EXPECT_FALSE(token.CanBeCancelled());
  EXPECT_FALSE(token.IsCancelled());
  const uint64_t id = token.OnCancel([] { FAIL(); });
  EXPECT_EQ(id, 0u);
  token.Forget(id);
}

TEST(CancellationToken, FiresCallbacksOnce) {
  CancellationSource source;
  const CancellationToken token = source.token();
  int fired = 0;
  token.OnCancel([&] { ++fired; });
  token.OnCancel([&] { ++fired; });
  EXPECT_FALSE(token.IsCancelled());
  source.Cancel();
  source.Cancel();
  EXPECT_TRUE(token.IsCancelled());
  EXPECT_EQ(fired, 2);
}

TEST(CancellationToken, CallbackAfterTheFactRunsAtOnce) {
  CancellationSource source;
  source.Cancel();
  bool fired = false;
  EXPECT_EQ(source.token().OnCancel([&] { fired = true; }), 0u);
  EXPECT_TRUE(fired);
}

TEST(CancellationToken, ForgottenCallbackDoesNotRun) {
  CancellationSource source;
  bool first = false;
  bool second = false;
  const uint64_t id = source.token().OnCancel([&] { first = true; });
  source.token().OnCancel([&] { second = true; });
  source.token().Forget(id);
  source.Cancel();
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
}

TEST(CancellationToken, CallbackMayForgetItself) {
  CancellationSource source;
  uint64_t id = 0;
  bool fired = false;
  id = source.token().OnCancel([&] {
    source.token().Forget(id);
    fired = true;
  });
  source.Cancel();
  EXPECT_TRUE(fired);
}

TEST(CancellationToken, ForgetWaitsForARunningCallback) {
  CancellationSource source;
  absl::Notification started;
  absl::Notification go_on;
  std::atomic<bool> ended{false};
  const uint64_t id = source.token().OnCancel([&] {
    started.Notify();
    go_on.WaitForNotification();
    ended = true;
  });
  Thread firing("firing", [&] { source.Cancel(); });
  started.WaitForNotification();
  Thread releasing("releasing", [&] { go_on.Notify(); });
  source.token().Forget(id);
  EXPECT_TRUE(ended);
}

TEST(CancellationToken, OutlivesItsSource) {
  CancellationToken token;
  {
    CancellationSource source;
    token = source.token();
  }
  EXPECT_FALSE(token.IsCancelled());
  token.OnCancel([] { FAIL(); });
}

TEST(CancellationSource, FollowsItsParent) {
  CancellationSource parent;
  CancellationSource child(parent.token());
  CancellationSource sibling(parent.token());
  bool fired = false;
  child.token().OnCancel([&] { fired = true; });
  sibling.Cancel();
  EXPECT_FALSE(parent.token().IsCancelled());
  EXPECT_FALSE(child.token().IsCancelled());
  parent.Cancel();
  EXPECT_TRUE(fired);
}

TEST(CancellationSource, DestroyedChildIsForgottenByItsParent) {
  CancellationSource parent;
  const auto marker = std::make_shared<int>(0);
  {
    CancellationSource child(parent.token());
    child.token().OnCancel([marker] {});
    EXPECT_EQ(marker.use_count(), 2);
  }
  EXPECT_EQ(marker.use_count(), 1);
  parent.Cancel();
}

TEST(CancellationSource, ChildOfACancelledParentIsCancelled) {
  CancellationSource parent;
  parent.Cancel();
  const CancellationSource child(parent.token());
  EXPECT_TRUE(child.token().IsCancelled());
}

}  // namespace
}  // namespace evenkeel::base
