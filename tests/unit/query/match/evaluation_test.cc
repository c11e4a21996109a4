// $alwaysFalse $alwaysTrue $comment $expr $mod $regex, and operators that are known but not
// supported.
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

constexpr Case kCases[] = {
    {R"({"$alwaysTrue": 1})", R"({})"},
    {R"({"$alwaysFalse": 1})", R"({})", false},
    {R"({"$comment": "why", "a": 1})", R"({"a": 1})"},
    {R"({"a": {"$comment": "why", "$gt": 1}})", R"({"a": 1})", false},
    {R"({"$expr": {"$gt": ["$a", "$b"]}})", R"({"a": 2, "b": 1})"},
    {R"({"$expr": {"$gt": ["$a", "$b"]}})", R"({"a": 1, "b": 1})", false},
    {R"({"$or": [{"$expr": {"$eq": ["$a", 1]}}, {"b": 1}]})", R"({"b": 1})"},
    {R"({"a": {"$mod": [4, 1]}})", R"({"a": 9})"},
    {R"({"a": {"$mod": [4, 1]}})", R"({"a": 9.7})"},
    {R"({"a": {"$mod": [4, 0]}})", R"({"a": 9})", false},
    {R"({"a": {"$mod": [4, -1]}})", R"({"a": -5})"},
    {R"({"a": {"$mod": [-1, 0]}})", R"({"a": {"$numberLong": "-9223372036854775808"}})"},
    {R"({"a": {"$mod": [2, 0]}})", R"({"a": {"$numberDouble": "NaN"}})", false},
    {R"({"a": {"$mod": [2, 0]}})", R"({"a": {"$numberDouble": "1e300"}})", false},
    {R"({"a": {"$mod": [2, 0]}})", R"({"a": "2"})", false},
    {R"({"a": {"$regex": "^ab"}})", R"({"a": "abc"})"},
    {R"({"a": {"$regex": "^AB", "$options": "i"}})", R"({"a": "abc"})"},
    {R"({"a": {"$options": "i", "$regex": "^AB"}})", R"({"a": "abc"})"},
    {R"({"a": {"$regex": "b.c", "$options": "s"}})", R"({"a": "ab\ncd"})"},
    {R"({"a": {"$regex": "^c", "$options": "m"}})", R"({"a": "ab\ncd"})"},
    {R"({"a": {"$regex": "a b", "$options": "x"}})", R"({"a": "ab"})"},
    {R"({"a": {"$regex": "^ab", "$ne": "abc"}})", R"({"a": "abc"})", false},
    {R"({"a": {"$regex": "b"}})", R"({"a": ["x", "abc"]})"},
    {R"({"a": {"$regex": "1"}})", R"({"a": 1})", false},
    {R"({"a": {"$regularExpression": {"pattern": "b", "options": ""}}})",
     R"({"a": {"$regularExpression": {"pattern": "b", "options": ""}}})"},
    {R"({"a": {"$regularExpression": {"pattern": "^é$", "options": "i"}}})", R"({"a": "É"})"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$mod": 4}})", 2},
    {R"({"a": {"$mod": [4]}})", 2},
    {R"({"a": {"$mod": [4, 1, 2]}})", 2},
    {R"({"a": {"$mod": [0, 1]}})", 2},
    {R"({"a": {"$mod": ["4", 1]}})", 2},
    {R"({"a": {"$regex": 1}})", 2},
    {R"({"a": {"$regex": "("}})", 51091},
    {R"({"a": {"$regex": "a", "$options": "q"}})", 51108},
    {R"({"a": {"$options": "i"}})", 2},
    {R"({"a": {"$expr": true}})", 2},
    {R"({"$regex": "a"})", 2},
    {R"({"$alwaysTrue": 0})", 9},
    {R"({"$expr": {"$nope": 1}})", 168},
    {R"({"$where": "1"})", 115},
    {R"({"$text": {"$search": "x"}})", 115},
    {R"({"a": {"$elemMatch": {"$where": "1"}}})", 2},
    {R"({"a": {"$elemMatch": {"$text": {"$search": "x"}}}})", 2},
    {R"({"$sampleRate": 2})", 2},
};

TEST(Evaluation, Matches) { CheckCases(kCases); }
TEST(Evaluation, Errors) { CheckErrors(kErrors); }

TEST(Evaluation, ReportsAFailingExpression) {
  const QueryContext context;
  const Filter filter = ParseOrDie(R"({"$expr": {"$divide": [1, "$a"]}})", context);
  EXPECT_TRUE(filter.HasExpression());
  EXPECT_FALSE(filter.Matches(Json(R"({"a": 0})")));
  EXPECT_FALSE(filter.Evaluate(Json(R"({"a": 0})")).ok());
  EXPECT_TRUE(*filter.Evaluate(Json(R"({"a": 2})")));
}

}  // namespace
}  // namespace evenkeel::query::match
