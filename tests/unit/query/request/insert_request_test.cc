// The insert command's fields.
#include "query/request/insert_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"insert": "c", "documents": [{"a": 1}]})"},
    {R"({"insert": "c"})", 40414},
    {R"({"insert": "c", "documents": []})", 16},
    {R"({"insert": "c", "documents": {}})", 14},
    {R"({"insert": "c", "documents": [1]})", 14},
    {R"({"insert": "c", "documents": [{}], "ordered": 1})", 14},
    {R"({"insert": "c", "documents": [{}], "nope": 1})", 40415},
};

TEST(InsertRequest, Errors) {
  CheckCommands([](bson::View command) { return ParseInsert(command); }, kCases);
}

TEST(InsertRequest, TakesASequenceInPlaceOfTheField) {
  const bson::Document command = Json(R"({"insert": "c", "ordered": false})");
  const bson::Document document = Json(R"({"a": 1})");
  const std::vector<bson::View> sequence = {document.view(), document.view()};
  const absl::StatusOr<InsertRequest> request = ParseInsert(command, &sequence);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->documents.size(), 2u);
  EXPECT_FALSE(request->ordered);
}

}  // namespace
}  // namespace evenkeel::query
