// Some of the elements of an array.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(ArrayN, Results) {
  constexpr std::string_view kDocument = R"({"a": [10, 30, null, 20]})";
  const Case cases[] = {
      {R"({"$firstN": {"n": 2, "input": "$a"}})", "[10, 30]", kDocument},
      {R"({"$lastN": {"n": 9, "input": "$a"}})", "[10, 30, null, 20]", kDocument},
      {R"({"$maxN": {"n": 2, "input": "$a"}})", "[30, 20]", kDocument},
      {R"({"$minN": {"n": 2.0, "input": "$a"}})", "[10, 20]", kDocument},
      {R"({"$median": {"input": "$a", "method": "approximate"}})", "20.0", kDocument},
      {R"({"$percentile": {"input": "$a", "method": "approximate", "p": [0, 0.9]}})",
       "[10.0, 30.0]", kDocument},
      {R"({"$median": {"input": "x", "method": "approximate"}})", "null"},
  };
  CheckCases(cases);
}

TEST(ArrayN, Errors) {
  const ErrorCase errors[] = {
      {R"({"$firstN": 1})", 5787801},
      {R"({"$firstN": {"input": [1]}})", 5787906},
      {R"({"$firstN": {"n": 1}})", 5787907},
      {R"({"$firstN": {"n": 1, "input": [1], "x": 1}})", 5787901},
      {R"({"$firstN": {"n": "x", "input": [1]}})", 5787902},
      {R"({"$firstN": {"n": 1.5, "input": [1]}})", 5787903},
      {R"({"$firstN": {"n": 0, "input": [1]}})", 5787908},
      {R"({"$maxN": {"n": 1, "input": 1}})", 5788200},
      {R"({"$median": {"input": 1, "method": "exact"}})", 2},
      {R"({"$percentile": {"input": 1, "method": "approximate", "p": [2]}})", 7750303},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
