// The values that paths reach, in order.
#include "query/match/path_walk.h"

#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

std::string Walk(std::string_view document, std::string_view dotted, LeafArrays leaf) {
  const bson::Document doc = Json(document);
  const bson::Path path(dotted);
  std::string out;
  WalkFrom(bson::Value(bson::Type::kObject, doc.view().data()), path, 0, leaf, kNoPosition,
           [&](bson::Value value, int64_t position) {
             out += value.missing() ? "missing" : bson::ToDisplay(value);
             if (position != kNoPosition) out += "@" + std::to_string(position);
             out += ";";
             return false;
           });
  return out;
}

TEST(PathWalk, VisitsInOrder) {
  struct WalkCase {
    std::string_view document;
    std::string_view path;
    std::string_view visited;
  };
  constexpr WalkCase kCases[] = {
      {R"({"a": 1})", "a", "1;"},
      {R"({"a": 1})", "b", "missing;"},
      {R"({"a": 1})", "a.b", "missing;"},
      {R"({"a": {"b": 1}})", "a.b", "1;"},
      {R"({"a": [1, [2]]})", "a", "1@0;[ 2 ]@1;[ 1, [ 2 ] ];"},
      {R"({"a": [{"b": 1}, 2, {"c": 3}]})", "a.b", "1@0;missing@2;"},
      {R"({"a": [{"b": [1, 2]}]})", "a.b", "1@0;2@0;[ 1, 2 ]@0;"},
      {R"({"a": [5, {"1": 4}]})", "a.1", "4@1;{ 1: 4 }@1;"},
      {R"({"a": [[5, 6]]})", "a.0.1", "6@0;"},
      {R"({"a": []})", "a.b", ""},
      {R"({"a": []})", "a", "[];"},
  };
  for (const WalkCase& test : kCases) {
    EXPECT_EQ(Walk(test.document, test.path, LeafArrays::kEachAndWhole), test.visited) << test.path;
  }
}

TEST(PathWalk, WholeArraysOnly) {
  EXPECT_EQ(Walk(R"({"a": [1, 2]})", "a", LeafArrays::kWhole), "[ 1, 2 ];");
}

}  // namespace
}  // namespace evenkeel::query::match
