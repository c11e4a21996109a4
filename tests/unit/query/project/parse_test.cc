// What projections may not say.
#include "query/project/parse.h"

#include "tests/unit/query/project/cases.h"

namespace evenkeel::query::project {
namespace {

constexpr ErrorCase kFind[] = {
    {R"({"a": 1, "b": 0})", 31254},
    {R"({"a": 0, "b": 1})", 31253},
    {R"({"a": 0, "b": {"$add": [1, 2]}})", 31252},
    {R"({"a": 0, "b": "$a"})", 31310},
    {R"({"a": 1, "a.b": 1})", 31249},
    {R"({"a.b": 1, "a": 1})", 31250},
    {R"({"": 1})", 40352},
    {R"({"a.": 1})", 40353},
    {R"({"a..b": 1})", 15998},
    {R"({"$a": 1})", 16410},
    {R"({"a": {}})", 51270},
    {R"({"a": {"$nope": 1}})", 31325},
    {R"({"a": {"$meta": "nope"}})", 17308},
    {R"({"a": {"$meta": 1}})", 17307},
    {R"({"a.$": "x"})", 31308},
    {R"({"a.$": {"b": 1}})", 31271},
    {R"({"a.$.b": 1})", 31271},
    {R"({"a.$": 0})", 31395},
    {R"({"a.$": 1, "b.$": 1})", 31276},
    {R"({"a": {"$elemMatch": {"b": 1}}, "b.$": 1})", 31256},
    {R"({"a.$": 1, "b": {"$elemMatch": {"b": 1}}})", 31255},
};

constexpr ErrorCase kStage[] = {
    {R"({"_id": {"$add": [1, 2]}, "a": 0})", 31254},
    {R"({"a": {"$elemMatch": {"x": 1}}})", 168},
    {R"({"a": {"$add": [1, 2], "$subtract": [1, 2]}})", 16410},
    {R"({"a": {"x": 1, "y": 0}})", 31254},
};

constexpr ErrorCase kAdd[] = {
    {R"({"a": 1, "a.b": 2})", 40176}, {R"({"a.b": 1, "a": 2})", 40176},
    {R"({"a": {"x.y": 1}})", 40183},  {R"({"a": {"$add": [1, 2], "$multiply": [1, 2]}})", 40181},
    {R"({"a": {"$bogus": 1}})", 168}, {R"({"a.$b": 1})", 16410},
};

TEST(Parse, FindErrors) { CheckErrors(ProjectionKind::kFind, kFind); }
TEST(Parse, StageErrors) { CheckErrors(ProjectionKind::kProjectStage, kStage); }
TEST(Parse, AddFieldsErrors) { CheckErrors(ProjectionKind::kAddFields, kAdd); }

}  // namespace
}  // namespace evenkeel::query::project
