// find's $elemMatch and positional projections.
#include "tests/unit/query/project/cases.h"

namespace evenkeel::query::project {
namespace {

constexpr std::string_view kDocument =
    R"({"_id": 1, "a": [{"b": 1, "c": 1}, {"b": 2, "c": 2}, {"b": 2}], "d": 5})";

constexpr Case kCases[] = {
    {R"({"a": {"$elemMatch": {"b": 2}}})", kDocument, R"({"_id": 1, "a": [{"b": 2, "c": 2}]})"},
    {R"({"a": {"$elemMatch": {"b": 9}}})", kDocument, R"({"_id": 1})"},
    {R"({"d": {"$elemMatch": {"b": 9}}})", kDocument, R"({"_id": 1})"},
    {R"({"a": {"$elemMatch": {"$gt": 1}}})", R"({"_id": 1, "a": [1, 2, 3]})",
     R"({"_id": 1, "a": [2]})"},
    {R"({"a": {"$elemMatch": {"b": 2}}, "d": 1})", kDocument,
     R"({"_id": 1, "a": [{"b": 2, "c": 2}], "d": 5})"},
    {R"({"a": {"$elemMatch": {"b": 2}}, "d": 0})", kDocument,
     R"({"_id": 1, "a": [{"b": 2, "c": 2}]})"},
    {R"({"a.$": 1})", kDocument, R"({"_id": 1, "a": [{"b": 2, "c": 2}]})", R"({"a.b": 2})"},
    {R"({"a.$": 1, "d": 1})", R"({"_id": 1, "a": [4, 5], "d": 1})",
     R"({"_id": 1, "a": [5], "d": 1})", R"({"a": 5})"},
    {R"({"a.$": 1})", R"({"_id": 1, "a": 5})", R"({"_id": 1, "a": 5})", R"({"a": 5})"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$elemMatch": 1}})", 31274},
    {R"({"a.b": {"$elemMatch": {"c": 1}}})", 31275},
    {R"({"a": {"$elemMatch": {"$expr": true}}})", 2},
    {R"({"a.$": 1})", 51246, R"({"a": [1]})"},
};

TEST(ElemMatch, Applies) { CheckCases(ProjectionKind::kFind, kCases); }
TEST(ElemMatch, Errors) { CheckErrors(ProjectionKind::kFind, kErrors); }

}  // namespace
}  // namespace evenkeel::query::project
