// The delete command's fields and statements.
#include "query/request/delete_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"delete": "c", "deletes": [{"q": {}, "limit": 0}]})"},
    {R"({"delete": "c", "deletes": [{"q": {}, "limit": 1.0}]})"},
    {R"({"delete": "c", "deletes": [{"q": {}, "limit": 2}]})", 9},
    {R"({"delete": "c", "deletes": [{"q": {}, "limit": 0.5}]})", 9},
    {R"({"delete": "c", "deletes": [{"q": {}, "limit": "1"}]})", 14},
    {R"({"delete": "c", "deletes": [{"q": {}}]})", 40414},
    {R"({"delete": "c", "deletes": [{"limit": 1}]})", 40414},
    {R"({"delete": "c", "deletes": []})", 16},
    {R"({"delete": "c"})", 40414},
    {R"({"delete": "c", "deletes": [{"q": {}, "limit": 1, "collation": "en"}]})", 14},
};

TEST(DeleteRequest, Errors) {
  CheckCommands([](bson::View command) { return ParseDelete(command); }, kCases);
}

TEST(DeleteRequest, Statements) {
  const bson::Document command = Json(
      R"({"delete": "c", "deletes": [{"q": {"a": 1}, "limit": 1, "hint": {"a": 1}}, {"q": {}, "limit": 0}]})");
  const absl::StatusOr<DeleteRequest> request = ParseDelete(command);
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->deletes.size(), 2u);
  EXPECT_TRUE(request->deletes[0].just_one);
  EXPECT_FALSE(request->deletes[1].just_one);
  EXPECT_TRUE(request->deletes[0].hint.Is(bson::Type::kObject));
}

}  // namespace
}  // namespace evenkeel::query
