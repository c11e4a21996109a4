// $push with $each $position $slice $sort.
#include "tests/unit/query/update/cases.h"

namespace evenkeel::query::update {
namespace {

constexpr Case kCases[] = {
    {R"({"$push": {"a": 1}})", R"({"_id": 1})", R"({"_id": 1, "a": [1]})"},
    {R"({"$push": {"a": [1]}})", R"({"_id": 1, "a": [0]})", R"({"_id": 1, "a": [0, [1]]})"},
    {R"({"$push": {"a": {"$each": [1, 2]}}})", R"({"_id": 1, "a": [0]})",
     R"({"_id": 1, "a": [0, 1, 2]})"},
    {R"({"$push": {"a": {"$each": []}}})", R"({"_id": 1, "a": [0]})", ""},
    {R"({"$push": {"a": {"$each": []}}})", R"({"_id": 1})", R"({"_id": 1, "a": []})"},
    {R"({"$push": {"a": {"$each": [9], "$position": 1}}})", R"({"_id": 1, "a": [0, 1]})",
     R"({"_id": 1, "a": [0, 9, 1]})"},
    {R"({"$push": {"a": {"$each": [9], "$position": -1}}})", R"({"_id": 1, "a": [0, 1]})",
     R"({"_id": 1, "a": [0, 9, 1]})"},
    {R"({"$push": {"a": {"$each": [9], "$position": 99}}})", R"({"_id": 1, "a": [0]})",
     R"({"_id": 1, "a": [0, 9]})"},
    {R"({"$push": {"a": {"$each": [9], "$position": -99}}})", R"({"_id": 1, "a": [0]})",
     R"({"_id": 1, "a": [9, 0]})"},
    {R"({"$push": {"a": {"$each": [3], "$slice": -2}}})", R"({"_id": 1, "a": [1, 2]})",
     R"({"_id": 1, "a": [2, 3]})"},
    {R"({"$push": {"a": {"$each": [3], "$slice": 2}}})", R"({"_id": 1, "a": [1, 2]})", ""},
    {R"({"$push": {"a": {"$each": [3], "$slice": 0}}})", R"({"_id": 1, "a": [1, 2]})",
     R"({"_id": 1, "a": []})"},
    {R"({"$push": {"a": {"$each": [3, 1], "$sort": 1}}})", R"({"_id": 1, "a": [2]})",
     R"({"_id": 1, "a": [1, 2, 3]})"},
    {R"({"$push": {"a": {"$each": [3, 1], "$sort": -1, "$slice": 2}}})", R"({"_id": 1, "a": [2]})",
     R"({"_id": 1, "a": [3, 2]})"},
    {R"({"$push": {"a": {"$each": [{"b": 1}], "$sort": {"b": 1}}}})",
     R"({"_id": 1, "a": [{"b": 2}, 5]})", R"({"_id": 1, "a": [5, {"b": 1}, {"b": 2}]})"},
    {R"({"$push": {"a.b": 1}})", R"({"_id": 1, "a": {}})", R"({"_id": 1, "a": {"b": [1]}})"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"$push": {"a": 1}})", 2, R"({"_id": 1, "a": 5})"},
    {R"({"$push": {"a": {"$each": 1}}})", 2},
    {R"({"$push": {"a": {"$each": [], "$slice": 1.5}}})", 2},
    {R"({"$push": {"a": {"$each": [], "$position": "x"}}})", 2},
    {R"({"$push": {"a": {"$each": [], "$sort": 2}}})", 2},
    {R"({"$push": {"a": {"$each": [], "$sort": {}}}})", 2},
    {R"({"$push": {"a": {"$each": [], "$sort": {"b": 3}}}})", 2},
    {R"({"$push": {"a": {"$each": [], "$other": 1}}})", 2},
};

TEST(Push, Applies) { CheckCases(kCases); }
TEST(Push, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::update
