// Arithmetic over all pairs of number types, with overflow, dates and nulls.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kNumbers = R"({
  "i": 7, "l": {"$numberLong": "7"}, "d": 7.5, "m": {"$numberDecimal": "7.5"}, "n": null, "s": "x",
  "max": 2147483647, "lmax": {"$numberLong": "9223372036854775807"},
  "lmin": {"$numberLong": "-9223372036854775808"}, "t": {"$date": {"$numberLong": "1000"}}})";

TEST(Arithmetic, AddPromotes) {
  const Case cases[] = {
      {R"({"$add": []})", "0"},
      {R"({"$add": ["$i", 1]})", "8", kNumbers},
      {R"({"$add": ["$i", "$l"]})", R"({"$numberLong": "14"})", kNumbers},
      {R"({"$add": ["$l", "$d"]})", "14.5", kNumbers},
      {R"({"$add": ["$d", "$m"]})", R"({"$numberDecimal": "15.0"})", kNumbers},
      {R"({"$add": ["$max", 1]})", R"({"$numberLong": "2147483648"})", kNumbers},
      {R"({"$add": ["$max", 1, -1]})", "2147483647", kNumbers},
      {R"({"$add": ["$lmax", 1]})", R"({"$numberDouble": "9.2233720368547758E+18"})", kNumbers},
      {R"({"$add": ["$i", "$n"]})", "null", kNumbers},
      {R"({"$add": ["$i", "$none"]})", "null", kNumbers},
      {R"({"$add": [0.1, 0.2, 0.3]})", "0.6"},
      {R"({"$add": ["$t", 500]})", R"({"$date": {"$numberLong": "1500"}})", kNumbers},
      {R"({"$add": [2.5, "$t"]})", R"({"$date": {"$numberLong": "1003"}})", kNumbers},
  };
  CheckCases(cases);
}

TEST(Arithmetic, AddRefuses) {
  const ErrorCase cases[] = {
      {R"({"$add": ["$i", "$s"]})", 14, kNumbers},
      {R"({"$add": ["$t", "$t"]})", 16612, kNumbers},
      {R"({"$add": ["$t", "$lmax"]})", 15, kNumbers},
      {R"({"$add": ["$t", {"$numberDouble": "NaN"}]})", 15, kNumbers},
  };
  CheckErrors(cases);
}

TEST(Arithmetic, Subtract) {
  const Case cases[] = {
      {R"({"$subtract": ["$i", 9]})", "-2", kNumbers},
      {R"({"$subtract": [-2147483648, 1]})", R"({"$numberLong": "-2147483649"})"},
      {R"({"$subtract": ["$lmin", 1]})", R"({"$numberDouble": "-9.2233720368547758E+18"})",
       kNumbers},
      {R"({"$subtract": ["$m", "$i"]})", R"({"$numberDecimal": "0.5"})", kNumbers},
      {R"({"$subtract": ["$t", 400]})", R"({"$date": {"$numberLong": "600"}})", kNumbers},
      {R"({"$subtract": ["$t", "$t"]})", R"({"$numberLong": "0"})", kNumbers},
      {R"({"$subtract": ["$n", "$s"]})", "null", kNumbers},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {
      {R"({"$subtract": ["$i", "$s"]})", 14, kNumbers},
      {R"({"$subtract": [1, "$t"]})", 14, kNumbers},
      {R"({"$subtract": [1]})", 16020},
  };
  CheckErrors(errors);
}

TEST(Arithmetic, MultiplyDivideMod) {
  const Case cases[] = {
      {R"({"$multiply": []})", "1"},
      {R"({"$multiply": ["$i", 3]})", "21", kNumbers},
      {R"({"$multiply": ["$max", 2]})", R"({"$numberLong": "4294967294"})", kNumbers},
      {R"({"$multiply": ["$l", 2]})", R"({"$numberLong": "14"})", kNumbers},
      {R"({"$multiply": ["$m", 2]})", R"({"$numberDecimal": "15.0"})", kNumbers},
      {R"({"$multiply": ["$i", "$n"]})", "null", kNumbers},
      {R"({"$divide": [7, 2]})", "3.5"},
      {R"({"$divide": [6, 2]})", "3.0"},
      {R"({"$divide": [{"$numberDecimal": "1"}, 4]})", R"({"$numberDecimal": "0.25"})"},
      {R"({"$mod": [-7, 3]})", "-1"},
      {R"({"$mod": ["$l", 4]})", R"({"$numberLong": "3"})", kNumbers},
      {R"({"$mod": [7.5, 2]})", "1.5"},
      {R"({"$mod": ["$lmin", -1]})", R"({"$numberLong": "0"})", kNumbers},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {
      {R"({"$divide": ["$i", 0]})", 2, kNumbers},
      {R"({"$divide": ["$m", {"$numberDecimal": "0"}]})", 2, kNumbers},
      {R"({"$divide": ["$s", 1]})", 14, kNumbers},
      {R"({"$mod": ["$i", 0]})", 16610, kNumbers},
      {R"({"$mod": ["$i", "$s"]})", 16611, kNumbers},
      {R"({"$multiply": ["$i", "$s"]})", 14, kNumbers},
  };
  CheckErrors(errors);
}

TEST(Arithmetic, Abs) {
  const Case cases[] = {
      {R"({"$abs": -3})", "3"},
      {R"({"$abs": [-3.5]})", "3.5"},
      {R"({"$abs": {"$numberInt": "-2147483648"}})", R"({"$numberLong": "2147483648"})"},
      {R"({"$abs": {"$numberDecimal": "-1.5"}})", R"({"$numberDecimal": "1.5"})"},
      {R"({"$abs": null})", "null"},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {
      {R"({"$abs": "$lmin"})", 28680, kNumbers},
      {R"({"$abs": "$s"})", 28765, kNumbers},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
