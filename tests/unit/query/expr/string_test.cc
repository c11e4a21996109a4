// Joining, splitting, parts, length and case of strings.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(String, Results) {
  const Case cases[] = {
      {R"({"$concat": ["a", "$s", ""]})", R"("ax")", R"({"s": "x"})"},
      {R"({"$concat": []})", R"("")"},
      {R"({"$concat": ["a", null]})", "null"},
      {R"({"$split": ["a-b-", "-"]})", R"(["a", "b", ""])"},
      {R"({"$split": [null, "-"]})", "null"},
      {R"({"$strLenBytes": "é"})", "2"},
      {R"({"$strLenCP": "é€😀"})", "3"},
      {R"({"$strcasecmp": ["abc", "ABD"]})", "-1"},
      {R"({"$strcasecmp": [null, ""]})", "0"},
      {R"({"$substrBytes": ["hello", 1, 3]})", R"("ell")"},
      {R"({"$substrBytes": ["hello", 1, -1]})", R"("ello")"},
      {R"({"$substrBytes": ["hello", 9, 1]})", R"("")"},
      {R"({"$substr": [1234, 1, 2]})", R"("23")"},
      {R"({"$substrCP": ["a😀b", 1, 1]})", R"("😀")"},
      {R"({"$substrCP": ["abc", 1, 9]})", R"("bc")"},
      {R"({"$toLower": "ABC"})", R"("abc")"},
      {R"({"$toUpper": null})", R"("")"},
      {R"({"$toUpper": {"$date": {"$numberLong": "0"}}})", R"("1970-01-01T00:00:00.000Z")"},
      {R"({"$toLower": 1000000.0})", R"("1e+06")"},
      {R"({"$toLower": {"$timestamp": {"t": 1704067200, "i": 1}}})", R"("jan  1 00:00:00:1")"},
  };
  CheckCases(cases);
}

TEST(String, Errors) {
  const ErrorCase errors[] = {
      {R"({"$concat": [1]})", 16702},
      {R"({"$split": [1, "a"]})", 40085},
      {R"({"$split": ["a", 1]})", 40086},
      {R"({"$split": ["a", ""]})", 40087},
      {R"({"$strLenBytes": 1})", 34473},
      {R"({"$strLenCP": null})", 34471},
      {R"({"$toLower": true})", 16007},
      {R"({"$substrBytes": ["abc", "x", 1]})", 16034},
      {R"({"$substrBytes": ["abc", 0, "x"]})", 16035},
      {R"({"$substrBytes": ["abc", -1, 1]})", 50752},
      {R"({"$substrBytes": ["é", 1, 1]})", 28656},
      {R"({"$substrBytes": ["é", 0, 1]})", 28657},
      {R"({"$substrBytes": ["a", {"$numberDouble": "NaN"}, 1]})", 31109},
      {R"({"$substrCP": ["a", "x", 1]})", 34450},
      {R"({"$substrCP": ["a", 1.5, 1]})", 34451},
      {R"({"$substrCP": ["a", 0, "x"]})", 34452},
      {R"({"$substrCP": ["a", 0, 1.5]})", 34453},
      {R"({"$substrCP": ["a", 0, -1]})", 34454},
      {R"({"$substrCP": ["a", -1, 1]})", 34455},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
