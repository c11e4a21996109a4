// Repeated attempts after StaleConfig: refresh, bounds, ends.
#include "router/retry.h"

#include "base/status.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class RetryTest : public AwaitTest {
 protected:
  absl::Status Refresh(RouteRetry& retry) {
    return Await(
        [](RouteRetry& r) -> Awaitable<absl::Status> { co_return co_await r.Refresh(); }(retry));
  }
};

TEST_F(RetryTest, RefreshForgetsTheRoute) {
  AddUnsharded("db.c", ShardId{1});
  RouteRetry retry(state(), "db.c", {});
  const auto first = Await(retry.Route());
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_EQ((*first)->entry->version.value, 1u);
  AddUnsharded("db.c", ShardId{2});
  EXPECT_EQ((*Await(retry.Route()))->entry->version.value, 1u) << "known routes are not asked for";
  EXPECT_TRUE(Refresh(retry).ok());
  const auto second = Await(retry.Route());
  EXPECT_EQ((*second)->entry->version.value, 2u);
  EXPECT_EQ((*second)->entry->primary, ShardId{2});
}

TEST_F(RetryTest, OnlyStaleRoutingCallsForAnotherAttempt) {
  const RouteRetry retry(state(), "db.c", {});
  EXPECT_TRUE(retry.IsStale(MakeError(ErrorCode::kStaleConfig, "")));
  EXPECT_FALSE(retry.IsStale(absl::OkStatus()));
  EXPECT_FALSE(retry.IsStale(MakeError(ErrorCode::kHostUnreachable, "")));
}

TEST_F(RetryTest, TheDeadlineEndsTheAttempts) {
  CallScope scope;
  scope.deadline = wall().Now() + absl::Seconds(5);
  RouteRetry retry(state(), "db.c", scope);
  EXPECT_TRUE(Refresh(retry).ok());
  wall().Advance(absl::Seconds(6));
  EXPECT_EQ(CodeOf(Refresh(retry)), ErrorCode::kMaxTimeMSExpired);
}

TEST_F(RetryTest, WithoutADeadlineTheWaitEndsToo) {
  RouteRetry retry(state(), "db.c", {});
  EXPECT_TRUE(Refresh(retry).ok());
  wall().Advance(absl::Hours(1));
  const absl::Status status = Refresh(retry);
  EXPECT_EQ(CodeOf(status), ErrorCode::kExceededTimeLimit);
  EXPECT_TRUE(Is(status, kRetryableWrite));
}

TEST_F(RetryTest, ACursorCannotBeSentElsewhere) {
  EXPECT_EQ(CodeOf(EndOfCursor(MakeError(ErrorCode::kStaleConfig, ""))),
            ErrorCode::kQueryPlanKilled);
  EXPECT_TRUE(EndOfCursor(absl::OkStatus()).ok());
  EXPECT_EQ(CodeOf(EndOfCursor(MakeError(ErrorCode::kCursorNotFound, ""))),
            ErrorCode::kCursorNotFound);
}

}  // namespace
}  // namespace evenkeel::router
