// $and $nor $not $or.
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

constexpr Case kCases[] = {
    {R"({"$and": [{"a": 1}, {"b": 2}]})", R"({"a": 1, "b": 2})"},
    {R"({"$and": [{"a": 1}, {"b": 2}]})", R"({"a": 1, "b": 3})", false},
    {R"({"$and": [{"a": {"$gt": 1}}, {"a": {"$lt": 1}}]})", R"({"a": [0, 2]})"},
    {R"({"$or": [{"a": 1}, {"b": 2}]})", R"({"b": 2})"},
    {R"({"$or": [{"a": 1}, {"b": 2}]})", R"({"c": 2})", false},
    {R"({"$or": [{"a": 1}, {"a": 2}]})", R"({"a": 2})"},
    {R"({"$or": [{}]})", R"({"c": 2})"},
    {R"({"$nor": [{"a": 1}, {"b": 2}]})", R"({"c": 2})"},
    {R"({"$nor": [{"a": 1}, {"b": 2}]})", R"({"a": 1})", false},
    {R"({"$nor": [{"a": 1}]})", R"({"a": 2})"},
    {R"({"a": {"$not": {"$gt": 5}}})", R"({"a": 3})"},
    {R"({"a": {"$not": {"$gt": 5}}})", R"({})"},
    {R"({"a": {"$not": {"$gt": 5}}})", R"({"a": [1, 9]})", false},
    {R"({"a": {"$not": {"$gt": 1, "$lt": 5}}})", R"({"a": 3})", false},
    {R"({"a": {"$not": {"$gt": 1, "$lt": 5}}})", R"({"a": 7})"},
    {R"({"a": {"$not": {"$not": {"$gt": 1}}}})", R"({"a": 7})"},
    {R"({"a": {"$not": {"$regularExpression": {"pattern": "^x", "options": ""}}}})",
     R"({"a": "yx"})"},
    {R"({"a": {"$gt": 0, "$not": {"$gt": 5}}})", R"({"a": 3})"},
    {R"({"$or": [{"a": 1, "b": 1}, {"$and": [{"c": 1}]}], "d": 1})", R"({"c": 1, "d": 1})"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"$and": []})", 2},
    {R"({"$or": {}})", 2},
    {R"({"$nor": [1]})", 2},
    {R"({"a": {"$not": {}}})", 2},
    {R"({"a": {"$not": 1}})", 2},
    {R"({"a": {"$not": {"b": 1}}})", 2},
    {R"({"a": {"$and": [{"b": 1}]}})", 2},
    {R"({"$not": {"a": 1}})", 2},
};

TEST(Logical, Matches) { CheckCases(kCases); }
TEST(Logical, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::match
