// Documents changed along a path.
#include "query/exec/set_path.h"

#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

TEST(WithField, SetsAndTakesAway) {
  const struct {
    std::string_view document, path, value, result;  // an empty value takes the field away
  } cases[] = {
      {R"({"a": 1, "b": 2})", "a", "5", R"({"a": 5, "b": 2})"},
      {R"({"a": 1})", "c", "5", R"({"a": 1, "c": 5})"},
      {R"({"a": {"x": 1, "y": 2}})", "a.x", "5", R"({"a": {"x": 5, "y": 2}})"},
      {R"({"a": {"x": 1}})", "a.z.w", "5", R"({"a": {"x": 1, "z": {"w": 5}}})"},
      {R"({"a": 1})", "a.b", "5", R"({"a": {"b": 5}})"},
      {R"({})", "a.b", "5", R"({"a": {"b": 5}})"},
      {R"({"a": 1, "b": 2})", "a", "", R"({"b": 2})"},
      {R"({"a": {"x": 1}})", "a.x", "", R"({"a": {}})"},
      {R"({"a": 1})", "a.b", "", R"({"a": 1})"},
      {R"({"a": 1})", "b.c", "", R"({"a": 1})"},
  };
  for (const auto& test : cases) {
    const bson::Document value = test.value.empty() ? bson::Document() : expr::Wrap(test.value);
    const bson::Document got =
        WithField(expr::FromJsonOrDie(test.document), bson::Path(test.path), value["v"]);
    EXPECT_EQ(bson::ToJson(got), bson::ToJson(expr::FromJsonOrDie(test.result)))
        << test.document << " " << test.path;
  }
}

}  // namespace
}  // namespace evenkeel::query
