// $getField, $mergeObjects, $setField, $unsetField.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kDocument = R"({"o": {"a": 1, "b": 2}, "a.b": 7, "$c": 8, "s": "x"})";

TEST(Object, Results) {
  const Case cases[] = {
      {R"({"$getField": "a.b"})", "7", kDocument},
      {R"({"$getField": {"$literal": "$c"}})", "8", kDocument},
      {R"({"$getField": {"field": "b", "input": "$o"}})", "2", kDocument},
      {R"({"$getField": {"field": "b", "input": "$s"}})", "", kDocument},
      {R"({"$mergeObjects": ["$o", {"b": 3, "c": 4}, null]})", R"({"a": 1, "b": 3, "c": 4})",
       kDocument},
      {R"({"$mergeObjects": []})", "{}"},
      {R"({"$setField": {"field": "a", "input": "$o", "value": "$s"}})", R"({"a": "x", "b": 2})",
       kDocument},
      {R"({"$setField": {"field": "x.y", "input": "$o", "value": 1}})",
       R"({"a": 1, "b": 2, "x.y": 1})", kDocument},
      {R"({"$setField": {"field": "a", "input": "$o", "value": "$$REMOVE"}})", R"({"b": 2})",
       kDocument},
      {R"({"$unsetField": {"field": "b", "input": "$o"}})", R"({"a": 1})", kDocument},
      {R"({"$unsetField": {"field": "b", "input": null}})", "null"},
  };
  CheckCases(cases);
}

TEST(Object, Errors) {
  const ErrorCase errors[] = {
      {R"({"$mergeObjects": ["$s"]})", 40400, kDocument},
      {R"({"$getField": {"field": 1, "input": "$o"}})", 5654602},
      {R"({"$getField": {"input": "$o"}})", 3041702},
      {R"({"$getField": {"field": "a"}})", 3041703},
      {R"({"$getField": {"field": "a", "x": 1}})", 3041701},
      {R"({"$setField": 1})", 4161100},
      {R"({"$unsetField": {"field": "a", "input": {}, "value": 1}})", 4161101},
      {R"({"$setField": {"input": {}, "value": 1}})", 4161102},
      {R"({"$setField": {"field": "a", "input": {}}})", 4161103},
      {R"({"$unsetField": {"field": "a", "input": "$s"}})", 4161105, kDocument},
      {R"({"$unsetField": {"field": {"$concat": ["a"]}, "input": {}}})", 4161106},
      {R"({"$unsetField": {"field": 1, "input": {}}})", 4161107},
      {R"({"$unsetField": {"field": "$s", "input": {}}})", 4161108},
      {R"({"$unsetField": {"field": "a"}})", 4161109},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
