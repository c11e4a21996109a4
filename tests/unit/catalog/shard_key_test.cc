// Tests of shard key patterns, and of where documents belong under them.
#include "catalog/shard_key.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::catalog {
namespace {

using storage::PlacedBy;

bson::Document Json(const std::string& text) {
  auto document = bson::FromJson(text);
  EXPECT_TRUE(document.ok()) << text << ": " << document.status();
  return document.ok() ? *std::move(document) : bson::Document();
}

ShardKeyPattern Pattern(const std::string& text) {
  auto pattern = ShardKeyPattern::Parse(Json(text));
  EXPECT_TRUE(pattern.ok()) << text << ": " << pattern.status();
  return *std::move(pattern);
}

TEST(ShardKey, PatternsThatAreAllowed) {
  struct Case {
    std::string pattern;
    std::vector<std::string> fields;
    bool by_id;
  };
  const Case cases[] = {
      {R"({"_id": "hashed"})", {"_id"}, true},
      {R"({"a": "hashed"})", {"a"}, false},
      {R"({"a.b.c": "hashed"})", {"a.b.c"}, false},
      {R"({"a": "hashed", "b": 1})", {"a", "b"}, false},
      {R"({"_id": "hashed", "b": 1})", {"_id", "b"}, false},
      {R"({"a": "hashed", "b.c": {"$numberLong": "1"}, "d": 1.0})", {"a", "b.c", "d"}, false},
  };
  for (const Case& c : cases) {
    const ShardKeyPattern pattern = Pattern(c.pattern);
    ASSERT_EQ(pattern.fields().size(), c.fields.size()) << c.pattern;
    for (size_t i = 0; i < c.fields.size(); ++i) {
      EXPECT_EQ(pattern.fields()[i].dotted(), c.fields[i]) << c.pattern;
    }
    EXPECT_EQ(pattern.IsById(), c.by_id) << c.pattern;
    EXPECT_EQ(bson::ToCanonicalJson(pattern.pattern()), bson::ToCanonicalJson(Json(c.pattern)));
  }
}

TEST(ShardKey, PatternsThatAreRefused) {
  const std::string cases[] = {
      "{}",
      R"({"a": 1})",
      R"({"a": -1})",
      R"({"a": 1, "b": "hashed"})",
      R"({"a": "hashed", "b": "hashed"})",
      R"({"a": "hashed", "b": -1})",
      R"({"a": "hashed", "b": 2})",
      R"({"a": "hashed", "b": 1.5})",
      R"({"a": "hashed", "b": "text"})",
      R"({"a": "hashed", "b": {}})",
      R"({"a": "text"})",
      R"({"a": true})",
      R"({"": "hashed"})",
      R"({"$a": "hashed"})",
      R"({".a": "hashed"})",
      R"({"a.": "hashed"})",
      R"({"a..b": "hashed"})",
      // The same field twice, and one inside another, cannot both have a value.
      R"({"a": "hashed", "a": 1})",
      R"({"a": "hashed", "a.b": 1})",
      R"({"a.b": "hashed", "c": 1, "a": 1})",
  };
  for (const std::string& pattern : cases) {
    EXPECT_EQ(CodeOf(ShardKeyPattern::Parse(Json(pattern)).status()), ErrorCode::kBadValue)
        << pattern;
  }
}

TEST(ShardKey, HashIsMongoDBs) {
  const ShardKeyPattern pattern = Pattern(R"({"a": "hashed"})");
  // convertShardKeyToHashed({foo: "bar"}) of the manual.
  EXPECT_EQ(*pattern.HashOf(Json(R"({"a": {"foo": "bar"}})")), 4975617422686807705);
}

TEST(ShardKey, HashesOfOneField) {
  struct Case {
    std::string pattern, document, same_as;
  };
  const Case cases[] = {
      {R"({"a": "hashed"})", R"({"a": 2})", R"({"a": 2.0})"},
      {R"({"a": "hashed"})", R"({"a": 2})", R"({"a": {"$numberLong": "2"}})"},
      {R"({"a": "hashed"})", R"({"a": 2.1})", R"({"a": 2.9})"},
      {R"({"a": "hashed"})", "{}", R"({"a": null})"},
      {R"({"a.b": "hashed"})", R"({"a": 1})", R"({"a": {"b": null}})"},
      {R"({"a.b": "hashed"})", R"({"a": {"b": "x"}})", R"({"a": {"c": 1, "b": "x"}})"},
      // Only the hashed field decides on the shard.
      {R"({"a": "hashed", "b": 1})", R"({"a": 1, "b": 2})", R"({"a": 1, "b": 3})"},
  };
  for (const Case& c : cases) {
    const ShardKeyPattern pattern = Pattern(c.pattern);
    EXPECT_EQ(*pattern.HashOf(Json(c.document)), *pattern.HashOf(Json(c.same_as)))
        << c.pattern << " " << c.document << " " << c.same_as;
  }
}

TEST(ShardKey, ArraysAreRefusedWhereverTheyLie) {
  struct Case {
    std::string pattern, document;
  };
  const Case cases[] = {
      {R"({"a": "hashed"})", R"({"a": [1]})"},
      {R"({"a": "hashed"})", R"({"a": []})"},
      {R"({"a.b": "hashed"})", R"({"a": [{"b": 1}]})"},
      {R"({"a.b": "hashed"})", R"({"a": {"b": [1]}})"},
      {R"({"a.0": "hashed"})", R"({"a": [1]})"},
      {R"({"a": "hashed", "b": 1})", R"({"a": 1, "b": [1]})"},
      {R"({"a": "hashed", "b.c": 1})", R"({"a": 1, "b": [{"c": 1}]})"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CodeOf(Pattern(c.pattern).PlacementOf(Json(c.document), PlacedBy::kHash).status()),
              ErrorCode::kShardKeyNotFound)
        << c.pattern << " " << c.document;
  }
}

TEST(ShardKey, OneFieldIsPlacedByItsHash) {
  const ShardKeyPattern pattern = Pattern(R"({"a": "hashed"})");
  for (const char* json : {"{}", R"({"a": 1})", R"({"a": "text"})", R"({"a": {"b": [1]}})"}) {
    const bson::Document document = Json(json);
    for (const PlacedBy by : {PlacedBy::kHash, PlacedBy::kBucket}) {
      const Placement place = *pattern.PlacementOf(document, by);
      EXPECT_EQ(place.hash, *pattern.HashOf(document)) << json;
      EXPECT_EQ(place.key, storage::EncodeHash(place.hash, by)) << json;
    }
  }
}

TEST(ShardKey, OrderedFieldsFollowTheHash) {
  const ShardKeyPattern pattern = Pattern(R"({"a": "hashed", "b": 1})");
  const char* const ascending[] = {
      R"({"a": 1})",           R"({"a": 1, "b": -5})",     R"({"a": 1, "b": 7})",
      R"({"a": 1, "b": 7.5})", R"({"a": 1, "b": "text"})", R"({"a": 1, "b": true})",
  };
  std::string before;
  for (const char* json : ascending) {
    const auto [hash, key] = *pattern.PlacementOf(Json(json), PlacedBy::kHash);
    EXPECT_EQ(hash, bson::HashValue(Json(R"({"a": 1})")["a"]));
    EXPECT_TRUE(key.starts_with(storage::EncodeHash(hash, PlacedBy::kHash))) << json;
    EXPECT_LT(before, key) << json;
    before = key;
  }
  EXPECT_EQ(pattern.PlacementOf(Json(R"({"a": 1, "b": 7})"), PlacedBy::kHash)->key,
            pattern.PlacementOf(Json(R"({"a": 1.0, "b": 7.0})"), PlacedBy::kHash)->key);
}

TEST(ShardKey, LongOrderedFieldsAreRefused) {
  const ShardKeyPattern pattern = Pattern(R"({"a": "hashed", "b": 1})");
  const std::string fits(limits::kPlacementKeyBytesMax - 32, 'x');
  const std::string too_long(limits::kPlacementKeyBytesMax, 'x');
  const auto code_of = [&](const std::string& json) {
    return CodeOf(pattern.PlacementOf(Json(json), PlacedBy::kHash).status());
  };
  EXPECT_EQ(code_of(R"({"a": 1, "b": ")" + fits + R"("})"), ErrorCode::kOK);
  EXPECT_EQ(code_of(R"({"a": 1, "b": ")" + too_long + R"("})"), ErrorCode::kBadValue);
  // The hashed field may have any length.
  EXPECT_EQ(code_of(R"({"a": ")" + too_long + R"("})"), ErrorCode::kOK);
}

TEST(ShardKey, KeyOfNamesEveryField) {
  const ShardKeyPattern pattern = Pattern(R"({"a.b": "hashed", "c": 1})");
  EXPECT_EQ(bson::ToJson(pattern.KeyOf(Json(R"({"a": {"b": 1, "x": 2}, "c": "y"})"))),
            bson::ToJson(Json(R"({"a.b": 1, "c": "y"})")));
  EXPECT_EQ(bson::ToJson(pattern.KeyOf(Json(R"({"_id": 1})"))),
            bson::ToJson(Json(R"({"a.b": null, "c": null})")));
}

}  // namespace
}  // namespace evenkeel::catalog
