// $all $elemMatch $size.
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

constexpr Case kCases[] = {
    {R"({"a": {"$size": 2}})", R"({"a": [1, 2]})"},
    {R"({"a": {"$size": 2}})", R"({"a": [[1, 2]]})", false},
    {R"({"a": {"$size": 0}})", R"({"a": []})"},
    {R"({"a": {"$size": 1}})", R"({"a": 1})", false},
    {R"({"a": {"$all": [1, 2]}})", R"({"a": [2, 1, 0]})"},
    {R"({"a": {"$all": [1, 2]}})", R"({"a": [1]})", false},
    {R"({"a": {"$all": [1]}})", R"({"a": 1})"},
    {R"({"a": {"$all": []}})", R"({"a": []})", false},
    {R"({"a": {"$all": [[1, 2]]}})", R"({"a": [[1, 2]]})"},
    {R"({"a": {"$all": [{"$elemMatch": {"b": 1}}, {"$elemMatch": {"b": 2}}]}})",
     R"({"a": [{"b": 2}, {"b": 1}]})"},
    {R"({"a": {"$elemMatch": {"$gt": 1, "$lt": 5}}})", R"({"a": [0, 3]})"},
    {R"({"a": {"$elemMatch": {"$gt": 1, "$lt": 5}}})", R"({"a": [0, 9]})", false},
    {R"({"a": {"$elemMatch": {"$gt": 1}}})", R"({"a": 3})", false},
    {R"({"a": {"$elemMatch": {"$gt": 1}}})", R"({"a": [[3]]})", false},
    {R"({"a": {"$elemMatch": {"$not": {"$gt": 1}}}})", R"({"a": [5, 0]})"},
    {R"({"a": {"$elemMatch": {"$elemMatch": {"$eq": 3}}}})", R"({"a": [[3]]})"},
    {R"({"a": {"$elemMatch": {"b": 1, "c": 2}}})", R"({"a": [{"b": 1}, {"b": 1, "c": 2}]})"},
    {R"({"a": {"$elemMatch": {"b": 1, "c": 2}}})", R"({"a": [{"b": 1}, {"c": 2}]})", false},
    {R"({"a": {"$elemMatch": {"0": 5}}})", R"({"a": [[5]]})"},
    {R"({"a": {"$elemMatch": {}}})", R"({"a": [1]})", false},
    {R"({"a": {"$elemMatch": {}}})", R"({"a": [{}]})"},
    {R"({"a": {"$elemMatch": {"$or": [{"b": 1}, {"c": 1}]}}})", R"({"a": [{"c": 1}]})"},
    {R"({"a.b": {"$elemMatch": {"$eq": 2}}})", R"({"a": [{"b": [1]}, {"b": [2]}]})"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$size": -1}})", 2},
    {R"({"a": {"$size": 1.5}})", 2},
    {R"({"a": {"$size": "1"}})", 2},
    {R"({"a": {"$all": 1}})", 2},
    {R"({"a": {"$all": [{"$gt": 1}]}})", 2},
    {R"({"a": {"$all": [{"$elemMatch": {"b": 1}}, 2]}})", 2},
    {R"({"a": {"$elemMatch": 1}})", 2},
    {R"({"a": {"$elemMatch": {"$expr": true}}})", 2},
};

TEST(Array, Matches) { CheckCases(kCases); }
TEST(Array, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::match
