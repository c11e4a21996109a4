// Tests of the values that documents have under indexes.
#include "shard/command/index_values.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/status.h"

namespace evenkeel::shard {
namespace {

bson::Document Json(const std::string& text) {
  auto document = bson::FromJson(text);
  EXPECT_TRUE(document.ok()) << text;
  return *std::move(document);
}

catalog::IndexEntry Index(const std::string& key) {
  return *catalog::IndexEntry::FromSpec(IndexId{1},
                                        Json(R"({"key": )" + key + R"(, "name": "n"})"));
}

// "[a,b][c,d]": the tuples; "-" is a missing value, "u" undefined.
std::string Tuples(const std::string& key, const std::string& document_json) {
  const catalog::IndexEntry index = Index(key);
  const bson::Document document = Json(document_json);
  const auto values = IndexValuesOf(index, document);
  if (!values.ok()) return "code " + std::to_string(static_cast<int>(CodeOf(values.status())));
  std::string out;
  for (size_t i = 0; i < values->values.size(); ++i) {
    const bson::Value value = values->values[i];
    out += i % index.fields.size() == 0 ? "[" : ",";
    if (value.missing()) {
      out += "-";
    } else if (value.Is(bson::Type::kUndefined)) {
      out += "u";
    } else {
      bson::Builder one;
      const std::string json = bson::ToJson(one.Append("v", value).Finish());
      out += json.substr(5, json.size() - 6);
    }
    if (i % index.fields.size() == index.fields.size() - 1) out += "]";
  }
  return out + (values->array ? " array" : "");
}

struct Case {
  std::string key, document, expected;
};

TEST(IndexValues, WithoutArrays) {
  const Case cases[] = {
      {R"({"a": 1})", R"({"a": 1})", "[1]"},
      {R"({"a": 1})", "{}", "[-]"},
      {R"({"a": 1})", R"({"a": null})", "[null]"},
      {R"({"a": 1})", R"({"a": {"b": 1}})", R"([{"b":1}])"},
      {R"({"a.b": 1})", R"({"a": {"b": 1}})", "[1]"},
      {R"({"a.b": 1})", R"({"a": 1})", "[-]"},
      {R"({"a.b.c": 1})", R"({"a": {"b": {"d": 1}}})", "[-]"},
      {R"({"a": 1, "b": 1})", R"({"b": 2, "a": 1})", "[1,2]"},
      {R"({"a": 1, "b": 1})", R"({"b": 2})", "[-,2]"},
      {R"({"a.0": 1})", R"({"a": {"0": 5}})", "[5]"},
  };
  for (const Case& c : cases) EXPECT_EQ(Tuples(c.key, c.document), c.expected) << c.document;
}

TEST(IndexValues, Arrays) {
  const Case cases[] = {
      {R"({"a": 1})", R"({"a": [1, 2]})", "[1][2] array"},
      {R"({"a": 1})", R"({"a": [1]})", "[1] array"},
      {R"({"a": 1})", R"({"a": []})", "[u] array"},
      {R"({"a": 1})", R"({"a": [[1, 2], 3]})", "[[1,2]][3] array"},
      {R"({"a": 1})", R"({"a": [[]]})", "[[]] array"},
      {R"({"a.b": 1})", R"({"a": [{"b": 1}, {"b": 2}]})", "[1][2] array"},
      {R"({"a.b": 1})", R"({"a": [{"b": 1}, {"c": 2}, 3, [{"b": 4}]]})", "[1][-][-][-] array"},
      {R"({"a.b": 1})", R"({"a": []})", "[-] array"},
      {R"({"a.b": 1})", R"({"a": [1, 2]})", "[-][-] array"},
      {R"({"a.b": 1})", R"({"a": {"b": [1, 2]}})", "[1][2] array"},
      {R"({"a.b": 1})", R"({"a": [{"b": [1, 2]}, {"b": 3}]})", "[1][2][3] array"},
      {R"({"a.b.c": 1})", R"({"a": [{"b": [{"c": 1}, {"c": 2}]}]})", "[1][2] array"},
      {R"({"a": 1, "x": 1})", R"({"a": [1, 2], "x": 9})", "[1,9][2,9] array"},
      {R"({"x": 1, "a": 1})", R"({"a": [], "x": 9})", "[9,u] array"},
  };
  for (const Case& c : cases) EXPECT_EQ(Tuples(c.key, c.document), c.expected) << c.document;
}

TEST(IndexValues, PositionsInArrays) {
  const Case cases[] = {
      {R"({"a.1": 1})", R"({"a": [5, 6]})", "[6]"},
      {R"({"a.1": 1})", R"({"a": [5]})", "[-] array"},
      {R"({"a.0.b": 1})", R"({"a": [{"b": 1}, {"b": 2}]})", "[1]"},
      {R"({"a.0": 1})", R"({"a": [[1, 2], 3]})", "[1][2] array"},
      {R"({"a.0.1": 1})", R"({"a": [[1, 2], 3]})", "[2]"},
      {R"({"a.01": 1})", R"({"a": [5, 6]})", "[-][-] array"},
  };
  for (const Case& c : cases) EXPECT_EQ(Tuples(c.key, c.document), c.expected) << c.document;
}

// Fields that go through the same array take their values from the same element.
TEST(IndexValues, SharedAndParallelArrays) {
  const Case cases[] = {
      {R"({"a.b": 1, "a.c": 1})", R"({"a": [{"b": 1, "c": 2}, {"b": 3}]})", "[1,2][3,-] array"},
      {R"({"a.b": 1, "x": 1, "a.c": 1})", R"({"a": [{"b": 1, "c": 2}], "x": 5})", "[1,5,2] array"},
      {R"({"a": 1, "a.b": 1})", R"({"a": [{"b": 1}, 2]})", R"([{"b":1},1][2,-] array)"},
      {R"({"a.b": 1, "a.c": 1})", R"({"a": [{"b": [1, 2], "c": 3}, {"b": 4, "c": [5, 6]}]})",
       "[1,3][2,3][4,5][4,6] array"},
      {R"({"a.b": 1, "a.c": 1})", R"({"a": []})", "[-,-] array"},
      {R"({"a": 1, "a.b": 1})", R"({"a": []})", "[u,-] array"},
      {R"({"a": 1, "b": 1})", R"({"a": [1], "b": [2]})", "code 171"},
      {R"({"a": 1, "b": 1})", R"({"a": [], "b": []})", "code 171"},
      {R"({"a.b": 1, "a.c": 1})", R"({"a": {"b": [1], "c": [2]}})", "code 171"},
      {R"({"a.b": 1, "a.c": 1})", R"({"a": [{"b": [1], "c": [2]}]})", "code 171"},
      {R"({"a": 1, "b": 1})", R"({"a": [1, 2], "b": {"c": [3]}})",
       R"([1,{"c":[3]}][2,{"c":[3]}] array)"},
  };
  for (const Case& c : cases) EXPECT_EQ(Tuples(c.key, c.document), c.expected) << c.document;
}

TEST(IndexValues, HashedFieldsTakeNoArrays) {
  const Case cases[] = {
      {R"({"a": "hashed"})", R"({"a": 1})", "[1]"},
      {R"({"a": "hashed"})", R"({"a": [1]})", "code 16766"},
      {R"({"a.b": "hashed"})", R"({"a": [{"b": 1}]})", "code 16766"},
      {R"({"a": "hashed", "b": 1})", R"({"a": 1, "b": [1, 2]})", "[1,1][1,2] array"},
      {R"({"a": "hashed"})", R"({"a": {"b": [1]}})", R"([{"b":[1]}])"},
  };
  for (const Case& c : cases) EXPECT_EQ(Tuples(c.key, c.document), c.expected) << c.document;
}

TEST(IndexValues, AreBoundedPerDocument) {
  bson::Builder document;
  document.OpenArray("a");
  bson::ArrayAppender array(document);
  for (size_t i = 0; i < kIndexTuplesMax; ++i) array.Add(static_cast<int32_t>(i));
  const bson::Document fits = document.Close().Finish();
  EXPECT_EQ(IndexValuesOf(Index(R"({"a": 1})"), fits)->values.size(), kIndexTuplesMax);
  EXPECT_EQ(IndexValuesOf(Index(R"({"x": 1, "a": 1})"), fits)->values.size(), 2 * kIndexTuplesMax);
  bson::Builder more;
  more.OpenArray("a");
  bson::ArrayAppender more_values(more);
  for (size_t i = 0; i <= kIndexTuplesMax; ++i) more_values.Add(static_cast<int32_t>(i));
  const bson::Document too_many = more.Close().Finish();
  EXPECT_EQ(CodeOf(IndexValuesOf(Index(R"({"a": 1})"), too_many).status()),
            ErrorCode::kCannotBuildIndexKeys);
}

}  // namespace
}  // namespace evenkeel::shard
