// $filter, $map, $reduce, $sortArray.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kDocument = R"({"a": [1, 5, 3], "s": "x", "k": 2, "n": null})";

TEST(ArrayLambda, Results) {
  const Case cases[] = {
      {R"({"$filter": {"input": "$a", "cond": {"$gt": ["$$this", "$k"]}}})", "[5, 3]", kDocument},
      {R"({"$filter": {"input": "$a", "as": "x", "cond": {"$gt": ["$$x", 0]}, "limit": 2}})",
       "[1, 5]", kDocument},
      {R"({"$filter": {"input": "$n", "cond": true}})", "null", kDocument},
      {R"({"$map": {"input": "$a", "in": {"$multiply": ["$$this", "$k"]}}})", "[2, 10, 6]",
       kDocument},
      {R"({"$map": {"input": "$a", "as": "o", "in":
           {"$map": {"input": "$a", "as": "i", "in": {"$add": ["$$o", "$$i"]}}}}})",
       "[[2, 6, 4], [6, 10, 8], [4, 8, 6]]", kDocument},
      {R"({"$map": {"input": "$a", "in": "$none"}})", "[null, null, null]", kDocument},
      {R"({"$reduce": {"input": "$a", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}})",
       "9", kDocument},
      {R"({"$reduce": {"input": [], "initialValue": "i", "in": 1}})", R"("i")"},
      {R"({"$sortArray": {"input": "$a", "sortBy": 1}})", "[1, 3, 5]", kDocument},
      {R"({"$sortArray": {"input": "$a", "sortBy": -1}})", "[5, 3, 1]", kDocument},
      {R"({"$sortArray": {"input": [{"a": 2, "b": 1}, {"a": 1}, {"a": 2, "b": 0}],
           "sortBy": {"a": 1, "b": -1}}})",
       R"([{"a": 1}, {"a": 2, "b": 1}, {"a": 2, "b": 0}])"},
  };
  CheckCases(cases);
}

TEST(ArrayLambda, Errors) {
  const ErrorCase errors[] = {
      {R"({"$filter": 1})", 28646},
      {R"({"$filter": {"input": [], "cond": 1, "x": 1}})", 28647},
      {R"({"$filter": {"cond": 1}})", 28648},
      {R"({"$filter": {"input": []}})", 28650},
      {R"({"$filter": {"input": "$s", "cond": 1}})", 28651, kDocument},
      {R"({"$filter": {"input": "$a", "cond": 1, "limit": 0}})", 327392, kDocument},
      {R"({"$filter": {"input": "$a", "cond": 1, "limit": "x"}})", 327391, kDocument},
      {R"({"$map": 1})", 16878},
      {R"({"$map": {"input": [], "in": 1, "x": 1}})", 16879},
      {R"({"$map": {"in": 1}})", 16880},
      {R"({"$map": {"input": []}})", 16882},
      {R"({"$map": {"input": "$s", "in": 1}})", 16883, kDocument},
      {R"({"$map": {"input": [], "as": "Bad", "in": 1}})", 9},
      {R"({"$reduce": 1})", 40075},
      {R"({"$reduce": {"input": [], "initialValue": 0}})", 40079},
      {R"({"$reduce": {"input": "$s", "initialValue": 0, "in": 1}})", 40080, kDocument},
      {R"({"$sortArray": {"input": "$s", "sortBy": 1}})", 2942504, kDocument},
      {R"({"$sortArray": {"input": [], "sortBy": 2}})", 2942506},
      {R"({"$sortArray": {"input": [], "sortBy": {"a": 2}}})", 2942505},
      {R"({"$sortArray": {"input": [], "sortBy": {}}})", 2942505},
      {R"({"$sortArray": {"input": [], "sortBy": "x"}})", 2942507},
  };
  CheckErrors(errors);
}

// Nested loops over long arrays stop at the memory of one evaluation.
TEST(ArrayLambda, MemoryIsBounded) {
  const ErrorCase errors[] = {
      {R"({"$map": {"input": {"$range": [0, 2000]}, "in": {"$range": [0, "$many"]}}})", 146,
       R"({"many": 100000})"},
      {R"({"$reduce": {"input": {"$range": [0, 64]}, "initialValue": "$text",
           "in": {"$concat": ["$$value", "$$value"]}}})",
       146, R"({"text": "0123456789"})"},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
