// $exists and $type.
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

constexpr Case kCases[] = {
    {R"({"a": {"$exists": true}})", R"({"a": null})"},
    {R"({"a": {"$exists": true}})", R"({})", false},
    {R"({"a": {"$exists": true}})", R"({"a": []})"},
    {R"({"a": {"$exists": false}})", R"({"b": 1})"},
    {R"({"a": {"$exists": 0}})", R"({"b": 1})"},
    {R"({"a.b": {"$exists": true}})", R"({"a": [{"c": 1}, {"b": 1}]})"},
    {R"({"a.b": {"$exists": false}})", R"({"a": [{"b": 1}, {}]})", false},
    {R"({"a.b": {"$exists": false}})", R"({"a": [1]})"},
    {R"({"a": {"$type": "string"}})", R"({"a": "x"})"},
    {R"({"a": {"$type": 2}})", R"({"a": "x"})"},
    {R"({"a": {"$type": "number"}})", R"({"a": {"$numberDecimal": "1"}})"},
    {R"({"a": {"$type": "int"}})", R"({"a": 1.5})", false},
    {R"({"a": {"$type": ["int", "string"]}})", R"({"a": ["x"]})"},
    {R"({"a": {"$type": "array"}})", R"({"a": []})"},
    {R"({"a": {"$type": "array"}})", R"({"a": 1})", false},
    {R"({"a": {"$type": -1}})", R"({"a": {"$minKey": 1}})"},
    {R"({"a": {"$type": 127}})", R"({"a": {"$maxKey": 1}})"},
    {R"({"a": {"$type": "null"}})", R"({})", false},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$type": "text"}})", 2}, {R"({"a": {"$type": 0}})", 2},
    {R"({"a": {"$type": 1.5}})", 2},    {R"({"a": {"$type": 200}})", 2},
    {R"({"a": {"$type": []}})", 9},     {R"({"a": {"$type": true}})", 14},
};

TEST(Element, Matches) { CheckCases(kCases); }
TEST(Element, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::match
