// Finding, trimming and replacing in strings.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(StringSearch, Results) {
  const Case cases[] = {
      {R"({"$indexOfBytes": ["éa", "a"]})", "2"},
      {R"({"$indexOfBytes": ["aba", "a", 1]})", "2"},
      {R"({"$indexOfBytes": ["aba", "a", 1, 2]})", "-1"},
      {R"({"$indexOfBytes": ["abc", "", 9]})", "-1"},
      {R"({"$indexOfBytes": [null, "a"]})", "null"},
      {R"({"$indexOfCP": ["éa", "a"]})", "1"},
      {R"({"$indexOfCP": ["abc", "c", 0, 2]})", "-1"},
      {R"({"$trim": {"input": " \t a b \n"}})", R"("a b")"},
      {R"({"$ltrim": {"input": "xxayx", "chars": "xy"}})", R"("ayx")"},
      {R"({"$rtrim": {"input": "xxayx", "chars": "xy"}})", R"("xxa")"},
      {R"({"$trim": {"input": null}})", "null"},
      {R"({"$trim": {"input": "a", "chars": null}})", "null"},
      {R"({"$replaceOne": {"input": "aXbX", "find": "X", "replacement": "-"}})", R"("a-bX")"},
      {R"({"$replaceAll": {"input": "aXbX", "find": "X", "replacement": "-"}})", R"("a-b-")"},
      {R"({"$replaceAll": {"input": null, "find": "X", "replacement": "-"}})", "null"},
  };
  CheckCases(cases);
}

TEST(StringSearch, Errors) {
  const ErrorCase errors[] = {
      {R"({"$indexOfBytes": [1, "a"]})", 40091},
      {R"({"$indexOfBytes": ["a", 1]})", 40092},
      {R"({"$indexOfCP": [1, "a"]})", 40093},
      {R"({"$indexOfCP": ["a", 1]})", 40094},
      {R"({"$indexOfCP": ["a", "a", "x"]})", 40096},
      {R"({"$indexOfCP": ["a", "a", -1]})", 40097},
      {R"({"$trim": "a"})", 50696},
      {R"({"$trim": {"input": "a", "x": 1}})", 50694},
      {R"({"$trim": {"chars": "a"}})", 50695},
      {R"({"$trim": {"input": 1}})", 50699},
      {R"({"$trim": {"input": "a", "chars": 1}})", 50700},
      {R"({"$replaceOne": 1})", 51751},
      {R"({"$replaceOne": {"find": "a", "replacement": "b"}})", 51749},
      {R"({"$replaceOne": {"input": "a", "replacement": "b"}})", 51748},
      {R"({"$replaceOne": {"input": "a", "find": "b"}})", 51747},
      {R"({"$replaceAll": {"input": 1, "find": 1, "replacement": "b"}})", 10503904},
      {R"({"$replaceAll": {"input": "a", "find": 1, "replacement": "b"}})", 10503901},
      {R"({"$replaceAll": {"input": "a", "find": "a", "replacement": 1}})", 10503902},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
