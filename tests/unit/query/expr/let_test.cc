// Variables of commands: expressions evaluated once.
#include "query/expr/let.h"

#include <gtest/gtest.h>

#include "base/bson/json.h"
#include "base/status.h"
#include "query/collation/collation.h"

namespace evenkeel::query {
namespace {

bson::Document Json(std::string_view json) { return *bson::FromJson(json); }

TEST(Let, ValuesAreExpressions) {
  QueryContext context;
  context.now_ms = 1000;
  context.cluster_time = Timestamp::FromParts(5, 6);
  const struct {
    std::string_view let, values;
  } cases[] = {
      {R"({})", R"({})"},
      {R"({"a": 1, "b": "x"})", R"({"a":1,"b":"x"})"},
      {R"({"a": {"$add": [1, 2]}})", R"({"a":3})"},
      {R"({"a": 2, "b": {"$multiply": ["$$a", 5]}, "c": "$$b"})", R"({"a":2,"b":10,"c":10})"},
      {R"({"a": {"$literal": "$x"}, "b": "$$a"})", R"({"a":"$x","b":"$x"})"},
      {R"({"a": {"b": [1, {"$abs": -2}]}})", R"({"a":{"b":[1,2]}})"},
      {R"({"a": "$$REMOVE"})", R"({"a":null})"},
      {R"({"a": {"$year": "$$NOW"}})", R"({"a":1970})"},
      {R"({"a": "$$CLUSTER_TIME"})", R"({"a":{"$timestamp":{"t":5,"i":6}}})"},
  };
  for (const auto& c : cases) {
    const auto values = EvaluateLet(Json(c.let), context);
    ASSERT_TRUE(values.ok()) << c.let << values.status();
    EXPECT_EQ(bson::ToJson(*values), c.values) << c.let;
  }
}

TEST(Let, Errors) {
  const struct {
    std::string_view let;
    int code;
  } cases[] = {
      {R"({"ROOT": 1})", 9},
      {R"({"a": "$field"})", 4890500},
      {R"({"a": "$$ROOT"})", 4890500},
      {R"({"a": {"$add": [1, "$b"]}})", 4890500},
      {R"({"a": "$$b", "b": 1})", 17276},
      {R"({"a": {"$nope": 1}})", 168},
      {R"({"a": {"$divide": [1, 0]}})", 2},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(static_cast<int>(CodeOf(EvaluateLet(Json(c.let), QueryContext()).status())), c.code)
        << c.let;
  }
}

TEST(Let, ExpressionsFollowTheCollation) {
  QueryContext context;
  context.collation = *Collation::Get(Json(R"({"locale": "en", "strength": 1})"));
  const auto values = EvaluateLet(Json(R"({"a": {"$eq": ["x", "X"]}})"), context);
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(bson::ToJson(*values), R"({"a":true})");
}

}  // namespace
}  // namespace evenkeel::query
