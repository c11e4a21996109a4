// Trigonometry: values that are exact, domains, decimals.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Trig, Results) {
  const Case cases[] = {
      {R"({"$sin": 0})", "0.0"},
      {R"({"$cos": 0})", "1.0"},
      {R"({"$tan": 0})", "0.0"},
      {R"({"$asin": 0})", "0.0"},
      {R"({"$acos": 1})", "0.0"},
      {R"({"$atan": 0})", "0.0"},
      {R"({"$atan2": [0, 1]})", "0.0"},
      {R"({"$sinh": 0})", "0.0"},
      {R"({"$cosh": 0})", "1.0"},
      {R"({"$tanh": 0})", "0.0"},
      {R"({"$asinh": 0})", "0.0"},
      {R"({"$acosh": 1})", "0.0"},
      {R"({"$atanh": 0})", "0.0"},
      {R"({"$sin": null})", "null"},
      {R"({"$degreesToRadians": 180})", "3.141592653589793"},
      {R"({"$radiansToDegrees": 0})", "0.0"},
      {R"({"$cos": {"$numberDecimal": "0"}})",
       R"({"$numberDecimal": "1.000000000000000000000000000000000"})"},
  };
  CheckCases(cases);
}

TEST(Trig, Errors) {
  const ErrorCase errors[] = {
      {R"({"$acos": 1.5})", 50989}, {R"({"$acosh": 0.5})", 50989},
      {R"({"$atanh": -2})", 50989}, {R"({"$cos": {"$numberDouble": "Infinity"}})", 50989},
      {R"({"$sin": "x"})", 28765},  {R"({"$atan2": ["x", 1]})", 51044},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
