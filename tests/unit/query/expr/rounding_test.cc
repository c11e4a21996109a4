// $ceil, $floor, $round, $trunc.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Rounding, WholeNumbers) {
  const Case cases[] = {
      {R"({"$ceil": 1.2})", "2.0"},
      {R"({"$ceil": -1.2})", "-1.0"},
      {R"({"$floor": -1.2})", "-2.0"},
      {R"({"$floor": 5})", "5"},
      {R"({"$floor": {"$numberDecimal": "1.7"}})", R"({"$numberDecimal": "1"})"},
      {R"({"$ceil": "$none"})", "null"},
  };
  CheckCases(cases);
}

TEST(Rounding, Places) {
  const Case cases[] = {
      {R"({"$round": 2.5})", "2.0"},
      {R"({"$round": [2.015, 2]})", "2.02"},
      {R"({"$round": [1.005, 2]})", "1.0"},
      {R"({"$round": [15, -1]})", "20"},
      {R"({"$round": [25, -1]})", "20"},
      {R"({"$round": [2147483647, -1]})", R"({"$numberLong": "2147483650"})"},
      {R"({"$round": [{"$numberDecimal": "0.65"}, 1]})", R"({"$numberDecimal": "0.6"})"},
      {R"({"$trunc": [0.29, 2]})", "0.28"},
      {R"({"$trunc": -1.9})", "-1.0"},
      {R"({"$trunc": [1234, -2]})", "1200"},
      {R"({"$round": [5.7, null]})", "null"},
  };
  CheckCases(cases);
}

TEST(Rounding, Errors) {
  const ErrorCase errors[] = {
      {R"({"$round": ["x"]})", 51081},
      {R"({"$round": [1, "x"]})", 16004},
      {R"({"$round": [1, 1.5]})", 51082},
      {R"({"$round": [1, 101]})", 51083},
      {R"({"$round": [1, {"$numberDouble": "NaN"}]})", 31109},
      {R"({"$round": [{"$numberLong": "9223372036854775806"}, -1]})", 51080},
      {R"({"$round": [1, 2, 3]})", 28667},
      {R"({"$floor": "x"})", 28765},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
