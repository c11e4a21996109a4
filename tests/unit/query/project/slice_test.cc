// find's $slice.
#include "tests/unit/query/project/cases.h"

namespace evenkeel::query::project {
namespace {

constexpr std::string_view kDocument =
    R"({"_id": 1, "a": [1, 2, 3, 4], "b": {"c": [1, 2, 3]}, "d": 5})";

constexpr Case kCases[] = {
    {R"({"a": {"$slice": 2}, "b": 0})", kDocument, R"({"_id": 1, "a": [1, 2], "d": 5})"},
    {R"({"a": {"$slice": -1}, "b": 0, "d": 0})", kDocument, R"({"_id": 1, "a": [4]})"},
    {R"({"a": {"$slice": [1, 2]}, "b": 0, "d": 0})", kDocument, R"({"_id": 1, "a": [2, 3]})"},
    {R"({"a": {"$slice": [-3, 2]}, "b": 0, "d": 0})", kDocument, R"({"_id": 1, "a": [2, 3]})"},
    {R"({"a": {"$slice": [9, 2]}, "b": 0, "d": 0})", kDocument, R"({"_id": 1, "a": []})"},
    {R"({"a": {"$slice": -9}, "b": 0, "d": 0})", kDocument, R"({"_id": 1, "a": [1, 2, 3, 4]})"},
    {R"({"a": {"$slice": 0}, "b": 0, "d": 0})", kDocument, R"({"_id": 1, "a": []})"},
    {R"({"a": {"$slice": 1}})", R"({"_id": 1, "a": 5, "b": 2})", R"({"_id": 1, "a": 5, "b": 2})"},
    {R"({"d": 1, "a": {"$slice": 1}})", kDocument, R"({"_id": 1, "a": [1], "d": 5})"},
    {R"({"b.c": {"$slice": 1}, "a": 0, "d": 0})", kDocument, R"({"_id": 1, "b": {"c": [1]}})"},
    {R"({"x": {"$slice": ["$a", 1]}})", kDocument, R"({"_id": 1, "x": [1]})"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$slice": "x"}})", 28667},
    {R"({"a": {"$slice": [1, 0]}})", 28724},
    {R"({"a": {"$slice": [1, -1]}})", 28724},
};

TEST(Slice, Applies) { CheckCases(ProjectionKind::kFind, kCases); }
TEST(Slice, Errors) { CheckErrors(ProjectionKind::kFind, kErrors); }

}  // namespace
}  // namespace evenkeel::query::project
