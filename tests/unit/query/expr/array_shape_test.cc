// $arrayToObject, $objectToArray, $zip.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kDocument =
    R"({"a": [1, 2], "b": [3], "s": "x", "o": {"p": 1, "q": [2]}})";

TEST(ArrayShape, Results) {
  const Case cases[] = {
      {R"({"$objectToArray": "$o"})", R"([{"k": "p", "v": 1}, {"k": "q", "v": [2]}])", kDocument},
      {R"({"$objectToArray": "$none"})", "null"},
      {R"({"$arrayToObject": [[["a", 1], ["b", "$s"]]]})", R"({"a": 1, "b": "x"})", kDocument},
      {R"({"$arrayToObject": {"$literal": [{"k": "a", "v": 1}, {"k": "a", "v": 2}]}})",
       R"({"a": 2})"},
      {R"({"$arrayToObject": {"$objectToArray": "$o"}})", R"({"p": 1, "q": [2]})", kDocument},
      {R"({"$zip": {"inputs": ["$a", "$b"]}})", "[[1, 3]]", kDocument},
      {R"({"$zip": {"inputs": ["$a", "$b"], "useLongestLength": true}})", "[[1, 3], [2, null]]",
       kDocument},
      {R"({"$zip": {"inputs": ["$a", "$b"], "useLongestLength": true, "defaults": [0, "$s"]}})",
       R"([[1, 3], [2, "x"]])", kDocument},
      {R"({"$zip": {"inputs": ["$a", null]}})", "null", kDocument},
  };
  CheckCases(cases);
}

TEST(ArrayShape, Errors) {
  const ErrorCase errors[] = {
      {R"({"$objectToArray": "$s"})", 40390, kDocument},
      {R"({"$arrayToObject": "$s"})", 40386, kDocument},
      {R"({"$arrayToObject": {"$literal": [["a", 1], {"k": "b", "v": 2}]}})", 40396},
      {R"({"$arrayToObject": {"$literal": [{"k": "b", "v": 2}, ["a", 1]]}})", 40391},
      {R"({"$arrayToObject": {"$literal": [{"k": "b"}]}})", 40392},
      {R"({"$arrayToObject": {"$literal": [{"k": "b", "w": 1}]}})", 40393},
      {R"({"$arrayToObject": {"$literal": [{"k": 1, "v": 1}]}})", 40394},
      {R"({"$arrayToObject": {"$literal": [[1, 1]]}})", 40395},
      {R"({"$arrayToObject": {"$literal": [["a"]]}})", 40397},
      {R"({"$arrayToObject": {"$literal": [1]}})", 40398},
      {R"({"$zip": 1})", 34460},
      {R"({"$zip": {"inputs": 1}})", 34461},
      {R"({"$zip": {"inputs": ["$a"], "useLongestLength": true, "defaults": 1}})", 34462},
      {R"({"$zip": {"inputs": ["$a"], "useLongestLength": 1}})", 34463},
      {R"({"$zip": {"inputs": ["$a"], "x": 1}})", 34464},
      {R"({"$zip": {"inputs": []}})", 34465},
      {R"({"$zip": {"inputs": ["$a"], "defaults": [1]}})", 34466},
      {R"({"$zip": {"inputs": ["$a"], "useLongestLength": true, "defaults": [1, 2]}})", 34467},
      {R"({"$zip": {"inputs": ["$s"]}})", 34468, kDocument},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
