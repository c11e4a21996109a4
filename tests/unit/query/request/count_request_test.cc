// The count command's fields.
#include "query/request/count_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"count": "c"})"},
    {R"({"count": "c", "query": null})"},
    {R"({"count": "c", "query": 1})", 14},
    {R"({"count": "c", "skip": -1})", 2},
    {R"({"count": "c", "skip": "1"})", 14},
    {R"({"count": "c", "limit": null})", 2},
    {R"({"count": "c", "limit": "1"})", 2},
    {R"({"count": "c", "hint": 1})", 9},
    {R"({"count": "c", "nope": 1})", 40415},
};

TEST(CountRequest, Errors) { CheckCommands(ParseCount, kCases); }

TEST(CountRequest, ANegativeLimitIsItsAmount) {
  const bson::Document command = Json(R"({"count": "c", "limit": -5, "skip": 2.9})");
  const absl::StatusOr<CountRequest> request = ParseCount(command);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->limit, 5);
  EXPECT_EQ(request->skip, 2);
}

}  // namespace
}  // namespace evenkeel::query
