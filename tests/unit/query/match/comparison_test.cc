// $eq $gt $gte $in $lt $lte $ne $nin and implicit equality over values, arrays, nulls and types.
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

constexpr Case kEquality[] = {
    {R"({"a": 1})", R"({"a": 1})"},
    {R"({"a": 1})", R"({"a": 1.0})"},
    {R"({"a": 1})", R"({"a": {"$numberDecimal": "1.00"}})"},
    {R"({"a": 1})", R"({"a": 2})", false},
    {R"({"a": 1})", R"({"a": "1"})", false},
    {R"({"a": 1})", R"({"a": true})", false},
    {R"({"a": 1})", R"({"b": 1})", false},
    {R"({"a": {"$eq": 1}})", R"({"a": 1})"},
    {R"({"a": {"b": 1}})", R"({"a": {"b": 1}})"},
    {R"({"a": {"b": 1}})", R"({"a": {"b": 1, "c": 2}})", false},
    {R"({"a": {"x": 1, "y": 2}})", R"({"a": {"y": 2, "x": 1}})", false},
    {R"({"a": {}})", R"({"a": {}})"},
    {R"({"a": {}})", R"({"a": 1})", false},
    {R"({"a": {"$numberDouble": "NaN"}})", R"({"a": {"$numberDecimal": "NaN"}})"},
    {R"({"a": {"$numberDouble": "NaN"}})", R"({"a": 0})", false},
    {R"({"a": -0.0})", R"({"a": 0})"},
    {R"({"a": {"$minKey": 1}})", R"({"a": {"$minKey": 1}})"},
    {R"({"a": {"$maxKey": 1}})", R"({"a": {"$minKey": 1}})", false},
    {R"({"a": {"$ref": "c", "$id": 1}})", R"({"a": {"$ref": "c", "$id": 1}})"},
};

constexpr Case kArrays[] = {
    {R"({"a": 2})", R"({"a": [1, 2]})"},
    {R"({"a": 3})", R"({"a": [1, 2]})", false},
    {R"({"a": [1, 2]})", R"({"a": [1, 2]})"},
    {R"({"a": [1, 2]})", R"({"a": [[1, 2], 3]})"},
    {R"({"a": [2, 1]})", R"({"a": [1, 2]})", false},
    {R"({"a": 1})", R"({"a": [[1]]})", false},
    {R"({"a.b": 1})", R"({"a": [{"b": 2}, {"b": 1}]})"},
    {R"({"a.b": 1})", R"({"a": [{"b": [0, 1]}]})"},
    {R"({"a.b": 1})", R"({"a": [[{"b": 1}]]})", false},
    {R"({"a.1": 2})", R"({"a": [1, 2]})"},
    {R"({"a.1": 1})", R"({"a": [1, 2]})", false},
    {R"({"a.1": 2})", R"({"a": {"1": 2}})"},
    {R"({"a.0": 7})", R"({"a": [{"0": 7}]})"},
    {R"({"a.01": 2})", R"({"a": [1, 2]})", false},
    {R"({"a.0.b": 3})", R"({"a": [{"b": 3}]})"},
    {R"({"a.0.1": 6})", R"({"a": [[5, 6]]})"},
    {R"({"a.0": 5})", R"({"a": [[5, 6]]})", false},
    {R"({"a": {"$gt": 1, "$lt": 3}})", R"({"a": [0, 5]})"},
    {R"({"a": {"$gt": [1]}})", R"({"a": [1, 0]})"},
    {R"({"a": {"$gt": [1]}})", R"({"a": [0, 9]})", false},
    {R"({"a": {"$ne": 1}})", R"({"a": [1, 2]})", false},
    {R"({"a": {"$ne": 3}})", R"({"a": [1, 2]})"},
};

constexpr Case kNulls[] = {
    {R"({"a": null})", R"({"a": null})"},
    {R"({"a": null})", R"({})"},
    {R"({"a": null})", R"({"a": {"$undefined": true}})", false},
    {R"({"a": null})", R"({"a": 0})", false},
    {R"({"a": null})", R"({"a": [1, null]})"},
    {R"({"a": null})", R"({"a": []})", false},
    {R"({"a.b": null})", R"({"a": 4})"},
    {R"({"a.b": null})", R"({"a": [1, 2]})", false},
    {R"({"a.b": null})", R"({"a": []})", false},
    {R"({"a.b": null})", R"({"a": [{"b": 1}, {}]})"},
    {R"({"a": {"$ne": null}})", R"({})", false},
    {R"({"a": {"$ne": null}})", R"({"a": 1})"},
    {R"({"a": {"$gte": null}})", R"({})"},
    {R"({"a": {"$lte": null}})", R"({"a": null})"},
    {R"({"a": {"$gt": null}})", R"({"a": 1})", false},
    {R"({"a": {"$lt": null}})", R"({})", false},
};

constexpr Case kRanges[] = {
    {R"({"a": {"$gt": 1}})", R"({"a": 2})"},
    {R"({"a": {"$gt": 1}})", R"({"a": 1})", false},
    {R"({"a": {"$gte": 1}})", R"({"a": 1.0})"},
    {R"({"a": {"$lt": 1}})", R"({"a": 0.5})"},
    {R"({"a": {"$lt": 1}})", R"({"a": "0"})", false},
    {R"({"a": {"$lt": "b"}})", R"({"a": "a"})"},
    {R"({"a": {"$lt": "b"}})", R"({"a": 1})", false},
    {R"({"a": {"$gt": false}})", R"({"a": true})"},
    {R"({"a": {"$lt": {"b": 2}}})", R"({"a": {"b": 1}})"},
    {R"({"a": {"$lt": {"$date": "2020-01-02T00:00:00Z"}}})",
     R"({"a": {"$date": "2020-01-01T00:00:00Z"}})"},
    {R"({"a": {"$lt": {"$date": "2020-01-02T00:00:00Z"}}})",
     R"({"a": {"$timestamp": {"t": 1, "i": 1}}})", false},
    {R"({"a": {"$gt": {"$minKey": 1}}})", R"({"a": "x"})"},
    {R"({"a": {"$gt": {"$minKey": 1}}})", R"({"a": {"$minKey": 1}})", false},
    {R"({"a": {"$lt": {"$maxKey": 1}}})", R"({"a": null})"},
    {R"({"a": {"$gte": {"$maxKey": 1}}})", R"({"a": 1})", false},
    {R"({"a": {"$lt": 5}})", R"({"a": {"$numberDouble": "NaN"}})", false},
    {R"({"a": {"$gte": {"$numberDouble": "NaN"}}})", R"({"a": {"$numberDouble": "NaN"}})"},
    {R"({"a": {"$gte": {"$numberDouble": "NaN"}}})", R"({"a": 1})", false},
    {R"({"a": {"$gt": {"$numberLong": "9007199254740993"}}})", R"({"a": 9007199254740992.0})",
     false},
};

constexpr Case kLists[] = {
    {R"({"a": {"$in": [1, 2]}})", R"({"a": 2.0})"},
    {R"({"a": {"$in": [1, 2]}})", R"({"a": 3})", false},
    {R"({"a": {"$in": [1, 2]}})", R"({"a": [0, 1]})"},
    {R"({"a": {"$in": [[0, 1]]}})", R"({"a": [0, 1]})"},
    {R"({"a": {"$in": []}})", R"({"a": 1})", false},
    {R"({"a": {"$in": [null]}})", R"({})"},
    {R"({"a": {"$in": ["x", {"$regularExpression": {"pattern": "^b", "options": ""}}]}})",
     R"({"a": "bc"})"},
    {R"({"a": {"$in": ["x", {"$regularExpression": {"pattern": "^b", "options": ""}}]}})",
     R"({"a": "ab"})", false},
    {R"({"a": {"$nin": [1, 2]}})", R"({"a": 3})"},
    {R"({"a": {"$nin": [1, 2]}})", R"({})"},
    {R"({"a": {"$nin": [1, 2]}})", R"({"a": [2, 3]})", false},
    {R"({"a": {"$nin": [null]}})", R"({})", false},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$in": 1}})", 2},
    {R"({"a": {"$in": [{"$gt": 1}]}})", 2},
    {R"({"a": {"$nin": {}}})", 2},
    {R"({"a": {"$gt": {"$regularExpression": {"pattern": "x", "options": ""}}}})", 2},
    {R"({"a": {"$ne": {"$regularExpression": {"pattern": "x", "options": ""}}}})", 2},
    {R"({"a": {"$eq": {"$undefined": true}}})", 2},
};

TEST(Comparison, Equality) { CheckCases(kEquality); }
TEST(Comparison, Arrays) { CheckCases(kArrays); }
TEST(Comparison, Nulls) { CheckCases(kNulls); }
TEST(Comparison, Ranges) { CheckCases(kRanges); }
TEST(Comparison, Lists) { CheckCases(kLists); }
TEST(Comparison, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::match
