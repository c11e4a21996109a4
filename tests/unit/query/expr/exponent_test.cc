// Powers, roots and logarithms.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Exponent, Results) {
  const Case cases[] = {
      {R"({"$pow": [2, 10]})", "1024"},
      {R"({"$pow": [2, 31]})", R"({"$numberLong": "2147483648"})"},
      {R"({"$pow": [2, -1]})", "0.5"},
      {R"({"$pow": [-1, -3]})", "-1"},
      {R"({"$pow": [2, 64]})", "18446744073709551616.0"},
      {R"({"$pow": [0, 0]})", "1"},
      {R"({"$pow": [{"$numberDecimal": "1.5"}, 2]})",
       R"({"$numberDecimal": "2.250000000000000000000000000000000"})"},
      {R"({"$pow": [{"$numberDecimal": "-0"}, 3]})", R"({"$numberDecimal": "0E-6176"})"},
      {R"({"$sqrt": 16})", "4.0"},
      {R"({"$exp": 0})", "1.0"},
      {R"({"$ln": 1})", "0.0"},
      {R"({"$log10": 100})", "2.0"},
      {R"({"$log": [8, 2]})", "3.0"},
      {R"({"$sigmoid": 0})", "0.5"},
      {R"({"$sqrt": {"$numberDecimal": "4"}})", R"({"$numberDecimal": "2"})"},
      {R"({"$sqrt": null})", "null"},
  };
  CheckCases(cases);
}

TEST(Exponent, Errors) {
  const ErrorCase errors[] = {
      {R"({"$sqrt": -1})", 28714},      {R"({"$ln": 0})", 28766},
      {R"({"$log10": -1})", 28761},     {R"({"$log": ["x", 2]})", 28756},
      {R"({"$log": [1, "x"]})", 28757}, {R"({"$log": [0, 2]})", 28758},
      {R"({"$log": [4, 1]})", 28759},   {R"({"$pow": ["x", 2]})", 28762},
      {R"({"$pow": [2, "x"]})", 28763}, {R"({"$pow": [0, -1]})", 28764},
      {R"({"$sigmoid": "x"})", 14},     {R"({"$exp": true})", 28765},
  };
  CheckErrors(errors);
}

// A decimal too small for a double is still above zero.
TEST(Exponent, TinyDecimal) {
  const Case cases[] = {
      {R"({"$log10": {"$numberDecimal": "1E-6143"}})", R"({"$numberDecimal": "-6143"})"},
  };
  CheckCases(cases);
}

}  // namespace
}  // namespace evenkeel::query::expr
