// $similarityCosine, $similarityDotProduct, $similarityEuclidean.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Similarity, Measures) {
  const Case cases[] = {
      {R"({"$similarityDotProduct": [[1, 2, 3], [4, 5, 6]]})", "32.0"},
      {R"({"$similarityDotProduct": {"vectors": [[1, 0], [0, 1]], "score": true}})", "0.5"},
      {R"({"$similarityCosine": [[1, 2], [1, 2]]})", "1.0"},
      {R"({"$similarityCosine": [[0, 0], [5, 0]]})", "0.0"},
      {R"({"$similarityCosine": {"vectors": [[1, 0], [-1, 0]], "score": true}})", "0.0"},
      {R"({"$similarityEuclidean": ["$a", [0, 0]]})", "5.0", R"({"a": [3, {"$numberLong": "4"}]})"},
      {R"({"$similarityEuclidean": {"vectors": [[3, 4], [0, 0]], "score": true}})",
       "0.16666666666666666"},
      {R"({"$similarityEuclidean": [[], []]})", "0.0"},
      {R"({"$similarityCosine": ["$none", [1]]})", "null"},
      {R"({"$similarityCosine": [[1], null]})", "null"},
      // int8 1, 2; float32 1.0; bits 101.
      {R"({"$similarityDotProduct": [{"$binary": {"base64": "AwABAg==", "subType": "09"}},
                                     [3, 4]]})",
       "11.0"},
      {R"({"$similarityDotProduct": [{"$binary": {"base64": "JwAAAIA/", "subType": "09"}}, [7]]})",
       "7.0"},
      {R"({"$similarityDotProduct": [{"$binary": {"base64": "EAWg", "subType": "09"}},
                                     [1, 10, 100]]})",
       "101.0"},
  };
  CheckCases(cases);
}

TEST(Similarity, Errors) {
  const ErrorCase errors[] = {
      {R"({"$similarityCosine": 1})", 9},
      {R"({"$similarityCosine": [[1]]})", 16020},
      {R"({"$similarityCosine": {"score": true}})", 9},
      {R"({"$similarityCosine": {"vectors": [[1], [1]], "score": 1}})", 14},
      {R"({"$similarityCosine": {"vectors": [[1], [1]], "x": 1}})", 9},
      {R"({"$similarityCosine": [[1], [1, 2]]})", 2},
      {R"({"$similarityCosine": [[1], ["a"]]})", 14},
      {R"({"$similarityCosine": [[1], "a"]})", 14},
      {R"({"$similarityCosine": [[1], {"$binary": {"base64": "AwAB", "subType": "00"}}]})", 2},
      {R"({"$similarityCosine": [[1], {"$binary": {"base64": "JwAB", "subType": "09"}}]})", 2},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
