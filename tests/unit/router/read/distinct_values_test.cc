// Which values distinct counts.
#include "router/read/distinct_values.h"
#include "base/status.h"

#include <gtest/gtest.h>

#include "tests/unit/router/fake_shard.h"

namespace evenkeel::router::read {
namespace {

struct Case {
  std::string_view document, path, values;
};

TEST(DistinctValuesTest, ArraysAreTakenApart) {
  const Case cases[] = {
      {R"({"a": 1})", "a", R"({"values":[1]})"},
      {R"({"a": [2, 1, 2]})", "a", R"({"values":[1,2]})"},
      {R"({"a": {"b": 3}})", "a.b", R"({"values":[3]})"},
      {R"({"a": [{"b": 3}, {"b": [4, 5]}, {"c": 1}, 7]})", "a.b", R"({"values":[3,4,5]})"},
      {R"({"a": [[1], 2]})", "a", R"({"values":[2,[1]]})"},
      {R"({"a": [7, 8]})", "a.1", R"({"values":[8]})"},
      {R"({"b": 1})", "a", R"({"values":[]})"},
      {R"({"a": null})", "a", R"({"values":[null]})"},
      {R"({"a": []})", "a", R"({"values":[]})"},
  };
  for (const Case& c : cases) {
    DistinctValues values;
    values.AddFrom(Json(c.document), bson::Path(c.path));
    EXPECT_EQ(bson::ToJson(*values.Reply()), c.values) << c.document << " " << c.path;
  }
}

TEST(DistinctValuesTest, EqualNumbersOfOtherTypesCountOnce) {
  DistinctValues values;
  for (const std::string_view json :
       {R"({"v": 1})", R"({"v": 1.0})", R"({"v": {"$numberLong": "1"}})"}) {
    values.Add(Json(json)["v"]);
  }
  EXPECT_EQ(values.Reply()->view()["values"].AsDocument().CountFields(), 1u);
}

TEST(DistinctValuesTest, TooManyAreAnError) {
  DistinctValues values;
  for (char c = 'a'; c < 'a' + 17; ++c) {
    bson::Builder builder;
    builder.Append("v", std::string(1 << 20, c));
    values.Add(builder.Finish()["v"]);
  }
  EXPECT_EQ(CodeOf(values.Reply().status()), Location(17217));
}

}  // namespace
}  // namespace evenkeel::router::read
