// Tests of errors as values: codes, names, categories, messages and the macros.
#include "base/status.h"

#include <gtest/gtest.h>

#include <string>

namespace evenkeel {
namespace {

TEST(StatusTest, CarriesCodeAndMessage) {
  const absl::Status status = MakeError(ErrorCode::kBadValue, "unknown operator: $foo");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(CodeOf(status), ErrorCode::kBadValue);
  EXPECT_EQ(MessageOf(status), "unknown operator: $foo");
}

TEST(StatusTest, FormatsMessage) {
  const absl::Status status = Error(ErrorCode::kTypeMismatch, "{} must be {}", "limit", 3);
  EXPECT_EQ(MessageOf(status), "limit must be 3");
}

TEST(StatusTest, OkHasCodeOkAndNoCategory) {
  EXPECT_EQ(CodeOf(absl::OkStatus()), ErrorCode::kOK);
  EXPECT_FALSE(Is(absl::OkStatus(), kNetwork));
  EXPECT_FALSE(Is(absl::OkStatus(), kNoCategory));
}

TEST(StatusTest, ForeignStatusIsInternalError) {
  EXPECT_EQ(CodeOf(absl::InvalidArgumentError("elsewhere")), ErrorCode::kInternalError);
}

TEST(StatusTest, Names) {
  struct Case {
    ErrorCode code;
    const char* name;
  };
  const Case cases[] = {
      {ErrorCode::kOK, "OK"},
      {ErrorCode::kInternalError, "InternalError"},
      {ErrorCode::kDuplicateKey, "DuplicateKey"},
      {ErrorCode::kOutOfDiskSpace, "OutOfDiskSpace"},
      {Location(31234), "Location31234"},
      {Location(3), "Location3"},
      {Location(99999), "Location99999"},
      {Location(112), "WriteConflict"},
  };
  for (const Case& c : cases) EXPECT_EQ(CodeName(c.code), c.name);
}

TEST(StatusTest, NumberWithoutRowSurvivesTheStatus) {
  const absl::Status status = MakeError(Location(40602), "x");
  EXPECT_EQ(static_cast<int>(CodeOf(status)), 40602);
  EXPECT_FALSE(Is(status, kRetryableRead));
}

TEST(StatusTest, CategoriesNeedAllBits) {
  EXPECT_TRUE(Is(ErrorCode::kWriteConflict, kTransientTransaction));
  EXPECT_FALSE(Is(ErrorCode::kWriteConflict, kRetryableWrite));
  const auto both = static_cast<ErrorCategory>(kNetwork | kMaybeApplied);
  EXPECT_TRUE(Is(ErrorCode::kNetworkTimeout, both));
  EXPECT_FALSE(Is(ErrorCode::kHostUnreachable, both));
}

TEST(StatusTest, AnnotateKeepsTheCode) {
  const absl::Status status = Annotate(MakeError(ErrorCode::kWriteConflict, "busy"), "shard1");
  EXPECT_EQ(CodeOf(status), ErrorCode::kWriteConflict);
  EXPECT_EQ(MessageOf(status), "shard1: busy");
  EXPECT_TRUE(Annotate(absl::OkStatus(), "shard1").ok());
}

absl::StatusOr<int> Half(int number) {
  if (number % 2 != 0) return Error(ErrorCode::kBadValue, "{} is odd", number);
  return number / 2;
}

absl::Status Quarter(int number, int* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int half, Half(number));
  EVENKEEL_ASSIGN_OR_RETURN(*out, Half(half));
  EVENKEEL_RETURN_IF_ERROR(Half(2 * *out).status());
  return absl::OkStatus();
}

TEST(StatusTest, MacrosReturnTheFirstError) {
  int out = 0;
  EXPECT_TRUE(Quarter(8, &out).ok());
  EXPECT_EQ(out, 2);
  EXPECT_EQ(MessageOf(Quarter(6, &out)), "3 is odd");
  EXPECT_EQ(MessageOf(Quarter(7, &out)), "7 is odd");
}

TEST(StatusDeathTest, OkIsNoError) {
  EXPECT_DEATH((void)MakeError(ErrorCode::kOK, "fine"), "check failed");
}

}  // namespace
}  // namespace evenkeel
