// Tests of scans over values longer than a key of the store: stored keys are shortened, bounds are
// not. What scans do with other values is tested with the commands.
#include "shard/command/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "catalog/shard_catalog.h"
#include "shard/command/command.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;

// 600 bytes that differ only at their end; "b" < "c" < … for their last letter.
std::string Long(char last) { return "\"" + std::string(599, 'x') + last + "\""; }
// The part that they have in common.
std::string Head() { return "\"" + std::string(500, 'x') + "\""; }

std::vector<int> Numbers(const std::vector<std::string>& rows) {
  std::vector<int> numbers;
  for (const std::string& row : rows) {
    const bson::Document document = Json(row);
    numbers.push_back(document["n"].missing() ? -1 : std::stoi(Field(document, "n")));
  }
  return numbers;
}

// A condition on one field and the numbers of the documents that match, in the field's order.
struct Case {
  std::string condition;
  std::vector<int> numbers;
};

// Documents: n 0 … 4 have "a", "xxx…xb", "xxx…xc", "xxx…xd", "z".
const std::vector<std::string> kValues = {"\"a\"", Long('b'), Long('c'), Long('d'), "\"z\""};

std::vector<Case> Cases() {
  return {
      {Long('c'), {2}},
      {R"({"$in": [)" + Long('d') + ", " + Long('b') + R"(, "z"]})", {1, 3, 4}},
      {R"({"$gt": )" + Long('b') + "}", {2, 3, 4}},
      {R"({"$gte": )" + Long('b') + "}", {1, 2, 3, 4}},
      {R"({"$gt": )" + Long('c') + "}", {3, 4}},
      {R"({"$lt": )" + Long('c') + "}", {0, 1}},
      {R"({"$lte": )" + Long('c') + "}", {0, 1, 2}},
      {R"({"$gt": )" + Long('b') + R"(, "$lt": )" + Long('d') + "}", {2}},
      {R"({"$gte": )" + Long('d') + R"(, "$lt": "y"})", {3}},
      {R"({"$gt": )" + Long('d') + R"(, "$lt": "y"})", {}},
      {R"({"$gt": )" + Head() + "}", {1, 2, 3, 4}},
      {R"({"$lt": )" + Head() + "}", {0}},
      {R"({"$gt": "x", "$lt": "y"})", {1, 2, 3}},
      {R"({"$ne": )" + Long('c') + "}", {0, 1, 3, 4}},
  };
}

void CheckAll(ShardFixture& shard, const TestCollection& collection, const std::string& field) {
  for (const Case& c : Cases()) {
    const std::string filter = R"("filter": {")" + field + R"(": )" + c.condition + "}";
    std::vector<int> numbers = Numbers(shard.Find(collection, filter));
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(numbers, c.numbers) << field << " " << c.condition.substr(0, 30);
    EXPECT_EQ(Numbers(shard.Find(collection, filter + R"(, "sort": {")" + field + R"(": 1})")),
              c.numbers)
        << field << " ascending " << c.condition.substr(0, 30);
    std::vector<int> reversed(c.numbers.rbegin(), c.numbers.rend());
    EXPECT_EQ(Numbers(shard.Find(collection,
                                 filter + R"(, "batchSize": 1, "sort": {")" + field + R"(": -1})")),
              reversed)
        << field << " descending " << c.condition.substr(0, 30);
    EXPECT_EQ(Field(shard.Run(collection.Command(
                        "count", R"("query": {")" + field + R"(": )" + c.condition + "}")),
                    "n"),
              std::to_string(c.numbers.size()));
  }
}

std::vector<std::string> DocumentsBy(const std::string& field) {
  std::vector<std::string> documents;
  for (size_t i = 0; i < kValues.size(); ++i) {
    const std::string id = field == "_id" ? kValues[i] : std::to_string(i);
    documents.push_back(R"({"_id": )" + id + R"(, "n": )" + std::to_string(i) +
                        (field == "_id" ? "" : ", \"" + field + "\": " + kValues[i]) + "}");
  }
  // Not in order, and not alone.
  std::rotate(documents.begin(), documents.begin() + 3, documents.end());
  return documents;
}

TEST(LongKeys, OfAnIndex) {
  for (const char* direction : {"1", "-1"}) {
    for (const char* more : {"", R"(, "n": 1)"}) {
      for (const char* key : {"", R"({"n": "hashed"})"}) {
        ShardFixture shard;
        const TestCollection collection{.shard_key = key,
                                        .indexes = {R"({"key": {"a": )" + std::string(direction) +
                                                    more + R"(}, "name": "i"})"}};
        shard.Put(collection);
        shard.Insert(collection, DocumentsBy("a"));
        CheckAll(shard, collection, "a");
        EXPECT_EQ(shard.Validate(collection), "");
      }
    }
  }
}

TEST(LongKeys, OfDocuments) {
  for (const char* key : {"", R"({"_id": "hashed"})", R"({"n": "hashed"})"}) {
    ShardFixture shard;
    const TestCollection collection{.shard_key = key};
    shard.Put(collection);
    shard.Insert(collection, DocumentsBy("_id"));
    CheckAll(shard, collection, "_id");
    EXPECT_EQ(shard.Validate(collection), "") << key;
  }
}

TEST(LongKeys, UniqueByTheWholeValue) {
  ShardFixture shard;
  const TestCollection collection{
      .indexes = {R"({"key": {"a": 1}, "name": "a_1", "unique": true})"}};
  shard.Put(collection);
  shard.Insert(collection, DocumentsBy("a"));
  const auto insert = [&](const std::string& value) {
    return Field(shard.Run(collection.Command(
                     "insert", R"("documents": [{"_id": )" + value + R"(, "a": )" + value + "}]")),
                 "n");
  };
  EXPECT_EQ(insert(Long('c')), "0");
  EXPECT_EQ(insert(Long('e')), "1");
  EXPECT_EQ(insert(Long('e')), "0");
  EXPECT_EQ(shard.Validate(collection), "");
}

TEST(LongKeys, WritesFindTheirDocuments) {
  ShardFixture shard;
  const TestCollection collection{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})"}};
  shard.Put(collection);
  shard.Insert(collection, DocumentsBy("a"));
  const auto update = [&](const std::string& statement) {
    return shard.RunJson(collection.Command("update", R"("updates": [)" + statement + "]"));
  };
  EXPECT_EQ(update(R"({"q": {"a": {"$gt": )" + Long('b') +
                   R"(}}, "u": {"$set": {"m": 1}}, "multi": true})"),
            R"({"n":3,"nModified":3})");
  EXPECT_EQ(
      update(R"({"q": {"a": )" + Long('c') + R"(}, "u": {"$set": {"a": )" + Long('z') + "}}}"),
      R"({"n":1,"nModified":1})");
  // The last of those with equal heads, by the order of their values.
  EXPECT_EQ(Field(shard.Run(collection.Command("findAndModify",
                                               R"("query": {"a": {"$lt": "y"}}, "sort": {"a": -1},
                                          "remove": true)")),
                  "value.n"),
            "2");
  EXPECT_EQ(Field(shard.Run(collection.Command("delete", R"("deletes": [{"q": {"a": {"$lte": )" +
                                                             Long('d') + R"(}}, "limit": 0}])")),
                  "n"),
            "3");
  EXPECT_EQ(Numbers(shard.Find(collection)), std::vector<int>{4});
  EXPECT_EQ(shard.Validate(collection), "");
}

TEST(LongKeys, AreRememberedOverARestart) {
  ShardFixture shard;
  const TestCollection collection{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})"}};
  shard.Put(collection);
  const auto has_long_keys = [&](size_t index) {
    return CatalogOf(shard.store().Read()).HasLongKeys(IndexId{collection.index_id(index)});
  };
  shard.Insert(collection, {R"({"_id": "first", "a": "short"})"});
  EXPECT_FALSE(has_long_keys(1));
  shard.Insert(collection, DocumentsBy("a"));
  EXPECT_TRUE(has_long_keys(1));
  EXPECT_FALSE(has_long_keys(0));
  shard.Restart();
  EXPECT_TRUE(has_long_keys(1));
  EXPECT_EQ(Numbers(shard.Find(collection, R"("filter": {"a": {"$gt": "x"}}, "sort": {"a": 1})")),
            (std::vector<int>{1, 2, 3, 4}));
}

TEST(LongKeys, AnIndexBuildNotesThem) {
  ShardFixture shard;
  TestCollection collection;
  shard.Put(collection);
  shard.Insert(collection, DocumentsBy("a"));
  collection.version = 2;
  collection.indexes = {R"({"key": {"a": 1}, "name": "a_1"})"};
  collection.building = {true};
  shard.Put(collection);
  EXPECT_EQ(shard.RunJson(collection.Command("_buildIndex",
                                             R"("index": {"$numberLong": ")" +
                                                 std::to_string(collection.index_id(1)) + R"("})")),
            "{}");
  collection.version = 3;
  collection.building = {};
  shard.Put(collection);
  CheckAll(shard, collection, "a");
  EXPECT_EQ(shard.Validate(collection), "");
}

// Values around the lengths at which keys are cut.
TEST(LongKeys, EveryLengthAroundTheLimits) {
  for (const char* key : {"", R"({"_id": "hashed"})"}) {
    ShardFixture shard;
    const TestCollection collection{.shard_key = key,
                                    .indexes = {R"({"key": {"a": 1}, "name": "a_1"})"}};
    shard.Put(collection);
    std::vector<std::string> documents;
    for (int length = 440; length <= 520; ++length) {
      const std::string value = "\"" + std::string(static_cast<size_t>(length), 'x') + "\"";
      documents.push_back(R"({"_id": )" + value + R"(, "a": )" + value + R"(, "n": )" +
                          std::to_string(length) + "}");
    }
    shard.Insert(collection, documents);
    EXPECT_EQ(shard.Validate(collection), "") << key;
    for (const char* field : {"_id", "a"}) {
      for (int length = 440; length <= 520; length += 3) {
        const std::string value = "\"" + std::string(static_cast<size_t>(length), 'x') + "\"";
        const auto count = [&](const std::string& condition) {
          return Field(shard.Run(collection.Command("count", R"("query": {")" + std::string(field) +
                                                                 R"(": )" + condition + "}")),
                       "n");
        };
        EXPECT_EQ(count(value), "1") << field << length;
        EXPECT_EQ(count(R"({"$lt": )" + value + "}"), std::to_string(length - 440)) << field;
        EXPECT_EQ(count(R"({"$gt": )" + value + "}"), std::to_string(520 - length)) << field;
      }
    }
  }
}

}  // namespace
}  // namespace evenkeel::shard
