// Regular expressions in expressions.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(StringRegex, Results) {
  const Case cases[] = {
      {R"json({"$regexMatch": {"input": "HELLO", "regex": "hel lo", "options": "ix"}})json",
       "true"},
      {R"json({"$regexMatch": {"input": null, "regex": "x"}})json", "false"},
      {R"json({"$regexFind": {"input": "é€abc12", "regex": "([a-z]+)(\\d+)|(z)"}})json",
       R"({"match": "abc12", "idx": 2, "captures": ["abc", "12", null]})"},
      {R"json({"$regexFind": {"input": "abc", "regex": "x"}})json", "null"},
      {R"json({"$regexFindAll": {"input": "aba", "regex": "(?=a)"}})json",
       R"([{"match": "", "idx": 0, "captures": []}, {"match": "", "idx": 2, "captures": []}])"},
      {R"json({"$regexFindAll": {"input": "", "regex": ""}})json",
       R"([{"match": "", "idx": 0, "captures": []}])"},
      {R"json({"$regexFindAll": {"input": "abc", "regex": null, "options": "z"}})json", "[]"},
      {R"json({"$regexMatch": {"input": "$s", "regex": "$p"}})json", "true",
       R"({"s": "ab", "p": "^a"})"},
  };
  CheckCases(cases);
}

TEST(StringRegex, Errors) {
  const ErrorCase errors[] = {
      {R"({"$regexMatch": "x"})", 51103},
      {R"({"$regexMatch": {"regex": "x"}})", 31022},
      {R"({"$regexMatch": {"input": "x"}})", 31023},
      {R"({"$regexMatch": {"input": "x", "regex": "x", "y": 1}})", 31024},
      {R"({"$regexMatch": {"input": 1, "regex": null}})", 51104},
      {R"({"$regexMatch": {"input": 1, "regex": 1}})", 51105},
      {R"({"$regexMatch": {"input": null, "regex": 1}})", 51105},
      {R"({"$regexMatch": {"input": "x", "regex": null, "options": 1}})", 51106},
      {R"({"$regexMatch": {"input": "x", "options": "i",
                           "regex": {"$regularExpression": {"pattern": "x", "options": "i"}}}})",
       51107},
      {R"({"$regexMatch": {"input": null, "regex": "x", "options": "z"}})", 51108},
      {R"({"$regexMatch": {"input": "x", "regex": "a\u0000b"}})", 51109},
      {R"({"$regexMatch": {"input": "x", "regex": "(x"}})", 51111},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
