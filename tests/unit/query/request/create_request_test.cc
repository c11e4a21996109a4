// The create command's fields.
#include "query/request/create_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"create": "c"})"},
    {R"({"create": 1})", 73},
    {R"({"create": "c", "nope": 1})", 40415},
    {R"({"create": "c", "capped": true, "size": 4096, "max": 5})"},
    {R"({"create": "c", "capped": true})", 72},
    {R"({"create": "c", "size": 4096})", 72},
    {R"({"create": "c", "max": 5})", 72},
    {R"({"create": "c", "capped": true, "size": 0})", 2},
    {R"({"create": "c", "capped": true, "size": {"$numberLong": "1125899906842625"}})", 2},
    {R"({"create": "c", "capped": "yes", "size": 1})", 14},
    {R"({"create": "c", "validator": 1})", 14},
    {R"({"create": "c", "validator": null})"},
    {R"({"create": "c", "validationLevel": "Strict"})", 2},
    {R"({"create": "c", "validationLevel": "moderate", "validationAction": "warn"})"},
    {R"({"create": "c", "validationAction": ""})", 2},
    {R"({"create": "c", "viewOn": "x", "pipeline": []})"},
    {R"({"create": "c", "viewOn": ""})", 2},
    {R"({"create": "c", "pipeline": []})", 72},
    {R"({"create": "c", "viewOn": "x", "pipeline": [1]})", 14},
    {R"({"create": "c", "viewOn": "x", "capped": true, "size": 1})", 72},
    {R"({"create": "c", "expireAfterSeconds": 5})", 72},
    {R"({"create": "c", "clusteredIndex": {"key": {"_id": 1}, "unique": true}, "expireAfterSeconds": 5})"},
    {R"({"create": "c", "clusteredIndex": {}, "capped": true, "size": 1})", 6049200},
    {R"({"create": "c", "clusteredIndex": "x"})", 14},
    {R"({"create": "c", "timeseries": 1})", 14},
};

TEST(CreateRequest, Errors) { CheckCommands(ParseCreate, kCases); }

TEST(CreateRequest, Fields) {
  const bson::Document command =
      Json(R"({"create": "c", "capped": true, "size": 4096, "max": 7, "validator": {"a": 1}})");
  const absl::StatusOr<CreateRequest> request = ParseCreate(command);
  ASSERT_TRUE(request.ok());
  EXPECT_TRUE(request->capped && request->has_validator);
  EXPECT_EQ(request->size_bytes, 4096);
  EXPECT_EQ(request->max_documents, 7);
}

}  // namespace
}  // namespace evenkeel::query
