// Inclusion, exclusion and added fields over nested documents and arrays.
#include "query/project/node.h"

#include "tests/unit/query/project/cases.h"

namespace evenkeel::query::project {
namespace {

constexpr std::string_view kDocument =
    R"({"_id": 1, "a": 2, "b": {"c": 3, "d": 4}, "e": [{"c": 5, "d": 6}, 7, [{"c": 8}]]})";

constexpr Case kFind[] = {
    {"{}", kDocument, kDocument},
    {R"({"a": 1})", kDocument, R"({"_id": 1, "a": 2})"},
    {R"({"a": 1, "_id": 0})", kDocument, R"({"a": 2})"},
    {R"({"_id": 1})", kDocument, R"({"_id": 1})"},
    {R"({"_id": 0})", R"({"_id": 1, "a": 2})", R"({"a": 2})"},
    {R"({"a": true, "x": 1})", kDocument, R"({"_id": 1, "a": 2})"},
    {R"({"b.c": 1})", kDocument, R"({"_id": 1, "b": {"c": 3}})"},
    {R"({"b": {"c": 1}})", kDocument, R"({"_id": 1, "b": {"c": 3}})"},
    {R"({"e.c": 1})", kDocument, R"({"_id": 1, "e": [{"c": 5}, [{"c": 8}]]})"},
    {R"({"a.x": 1})", kDocument, R"({"_id": 1})"},
    {R"({"b": 1, "a": 1})", kDocument, R"({"_id": 1, "a": 2, "b": {"c": 3, "d": 4}})"},
    {R"({"a": 0, "e": 0})", kDocument, R"({"_id": 1, "b": {"c": 3, "d": 4}})"},
    {R"({"b.c": 0, "e.c": 0, "a.x": 0})", kDocument,
     R"({"_id": 1, "a": 2, "b": {"d": 4}, "e": [{"d": 6}, 7, [{}]]})"},
    {R"({"x": "$a", "b.y": {"$add": ["$a", 1]}, "a": 1})", kDocument,
     R"({"_id": 1, "a": 2, "b": {"y": 3}, "x": 2})"},
    {R"({"x": "text"})", kDocument, R"({"_id": 1, "x": "text"})"},
    {R"({"x": "$nope"})", kDocument, R"({"_id": 1})"},
    {R"({"_id": "$a"})", kDocument, R"({"_id": 2})"},
};

constexpr Case kAdd[] = {
    {R"({"x": 1})", R"({"_id": 1, "a": 2})", R"({"_id": 1, "a": 2, "x": 1})"},
    {R"({"a": {"$add": ["$a", 1]}})", R"({"_id": 1, "a": 2, "b": 3})",
     R"({"_id": 1, "a": 3, "b": 3})"},
    {R"({"b.x": "$a"})", R"({"a": 2, "b": {"c": 1}})", R"({"a": 2, "b": {"c": 1, "x": 2}})"},
    {R"({"a.x": 5})", R"({"a": 2})", R"({"a": {"x": 5}})"},
    {R"({"a.x": 5})", R"({"a": [1, {"x": 0}, [2]]})", R"({"a": [{"x": 5}, {"x": 5}, [{"x": 5}]]})"},
    {R"({"a.b.c": 5})", R"({})", R"({"a": {"b": {"c": 5}}})"},
    {R"({"a": "$$REMOVE"})", R"({"a": 1, "b": 2})", R"({"b": 2})"},
    {R"({"a": {"b": 1}})", R"({"a": {"c": 2}})", R"({"a": {"c": 2, "b": 1}})"},
    {R"({"a": {}})", R"({})", R"({"a": {}})"},
    {R"({"a": 0})", R"({"a": 5})", R"({"a": 0})"},
};

TEST(Node, Find) { CheckCases(ProjectionKind::kFind, kFind); }
TEST(Node, AddFields) { CheckCases(ProjectionKind::kAddFields, kAdd); }

TEST(Node, ManyFieldsAreFound) {
  std::string spec = "{\"_id\": 0", document = "{\"x\": 1", result = "{";
  for (int i = 0; i < 30; ++i) {
    const std::string name = "\"f" + std::to_string(i) + "\": ";
    spec += ", " + name + "1";
    document += ", " + name + std::to_string(i);
    result += (i ? ", " : "") + name + std::to_string(i);
  }
  spec += "}";
  document += "}";
  result += "}";
  const Case cases[] = {{spec, document, result}};
  CheckCases(ProjectionKind::kFind, cases);
}

}  // namespace
}  // namespace evenkeel::query::project
