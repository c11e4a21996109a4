// Updates given as pipelines.
#include "query/update/pipeline_update.h"

#include "tests/unit/query/update/cases.h"

namespace evenkeel::query::update {
namespace {

constexpr Case kCases[] = {
    {R"({"pipeline": [{"$set": {"b": {"$add": ["$a", 1]}}}, {"$unset": "a"}]})",
     R"({"_id": 1, "a": 2})", R"({"_id": 1, "b": 3})"},
    {R"({"pipeline": [{"$replaceWith": {"c": "$a"}}]})", R"({"_id": 1, "a": 2})",
     R"({"_id": 1, "c": 2})"},
    {R"({"pipeline": [{"$project": {"a": 1}}]})", R"({"_id": 1, "a": 2, "b": 3})",
     R"({"_id": 1, "a": 2})"},
    {R"({"pipeline": [{"$set": {"a": 2}}]})", R"({"_id": 1, "a": 2})", ""},
    {R"({"pipeline": []})", R"({"_id": 1})", ""},
};

constexpr ErrorCase kErrors[] = {
    {R"({"pipeline": [{"$set": {"_id": 2}}]})", 66},
    {R"({"pipeline": [{"$group": {"_id": 1}}]})", 72},
    {R"({"pipeline": [{"$set": {"a": {"$divide": [1, 0]}}}]})", 2},
    {R"({"pipeline": []})", 9, R"({"_id": 1})", "{}", R"({"f": [{"x": 1}]})"},
};

TEST(PipelineUpdate, Applies) { CheckCases(kCases); }
TEST(PipelineUpdate, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::update
