// Tests of index builds: old documents, concurrent writes, uniqueness, repeated steps.
#include "shard/command/build_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

const std::string kIndexA = R"({"key": {"a": 1}, "name": "a_1"})";
const std::string kUniqueA = R"({"key": {"a": 1}, "name": "a_1", "unique": true})";

// The collection before the build, while it runs, and after it.
struct Steps {
  TestCollection before, building, ready;
  Steps(const std::string& index, const std::string& shard_key) {
    before.shard_key = shard_key;
    building = before;
    building.version = 2;
    building.indexes = {index};
    building.building = {true};
    ready = building;
    ready.version = 3;
    ready.building = {};
  }
  std::string Build() const {
    return building.Command("_buildIndex", R"("index": {"$numberLong": ")" +
                                               std::to_string(building.index_id(1)) + R"("})");
  }
};

std::vector<std::string> Documents(int count) {
  std::vector<std::string> documents;
  for (int i = 0; i < count; ++i) {
    const std::string id = std::to_string(i), a = std::to_string(i % 50);
    documents.push_back(R"({"_id": )" + id + R"(, "a": )" +
                        (i % 5 == 0 ? "[" + a + ", " + id + ", 77]" : a) + R"(, "k": )" + id + "}");
  }
  return documents;
}

TEST(BuildIndex, AddsTheDocumentsThatWereThere) {
  for (const std::string key : {"", R"({"k": "hashed"})", R"({"_id": "hashed"})"}) {
    ShardFixture shard;
    const Steps steps(kIndexA, key);
    shard.Put(steps.before);
    shard.Insert(steps.before, Documents(1300));
    shard.Put(steps.building);
    EXPECT_EQ(shard.RunJson(steps.Build()), "{}");
    EXPECT_EQ(shard.Validate(steps.building), "") << key;
    EXPECT_EQ(shard.RunJson(steps.Build()), "{}");  // a repeated step
    shard.Put(steps.ready);
    EXPECT_EQ(shard.Validate(steps.ready), "") << key;
    EXPECT_EQ(shard.Find(steps.ready, R"("filter": {"a": 77}, "hint": "a_1")").size(), 260u);
  }
}

// Every order of a document's change and the build's look at it ends in the same records.
TEST(BuildIndex, BesideWrites) {
  for (const std::string key : {"", R"({"k": "hashed"})"}) {
    ShardFixture shard;
    const Steps steps(kIndexA, key);
    shard.Put(steps.before);
    shard.Insert(steps.before, Documents(1500));
    shard.Put(steps.building);
    std::vector<std::future<bson::Document>> running;
    running.push_back(shard.Start(steps.Build()));
    for (int i = 0; i < 400; ++i) {
      const std::string id = std::to_string((i * 37) % 1500);
      const std::string q = R"({"q": {"_id": )" + id + "}, ";
      const std::string changes[] = {
          // Its records stay the same: the build must not leave them to nobody.
          R"("u": {"$set": {"x": )" + std::to_string(i) + "}}}",
          R"("u": {"$set": {"a": )" + std::to_string(i % 9) + "}}}",
          R"("u": {"$set": {"a": [1, 2, )" + std::to_string(i) + "]}}}",
          R"("u": {"$unset": {"a": 1}}})",
      };
      running.push_back(shard.Start(
          steps.building.Command("update", R"("updates": [)" + q + changes[i % 4] + "]")));
      if (i % 10 == 0) {
        running.push_back(shard.Start(steps.building.Command(
            "delete", R"("deletes": [{"q": {"_id": )" + std::to_string((i * 7) % 1500) +
                          R"(}, "limit": 1}])")));
        running.push_back(shard.Start(steps.building.Command(
            "insert", R"("documents": [{"_id": )" + std::to_string(5000 + i) +
                          R"(, "a": 1, "k": )" + std::to_string(i) + "}]")));
      }
    }
    for (auto& one : running) {
      const bson::Document reply = one.get();
      EXPECT_TRUE(reply["code"].missing() && reply["writeErrors"].missing());
    }
    shard.Put(steps.ready);
    EXPECT_EQ(shard.Validate(steps.ready), "") << key;
  }
}

// The change comes between the build's look and its write, by force.
TEST(BuildIndex, AChangedDocumentKeepsItsRecords) {
  const std::string changes[] = {
      R"("updates": [{"q": {"_id": 3}, "u": {"$set": {"x": 1}}}])",
      R"("updates": [{"q": {"_id": 3}, "u": {"$set": {"a": 9}}}])",
      R"("updates": [{"q": {"_id": 3}, "u": {"$unset": {"a": 1}}}])",
      R"("updates": [{"q": {"_id": 3}, "u": {"$set": {"a": [1, 3]}}}])",
  };
  for (const std::string& change : changes) {
    ShardFixture shard;
    const Steps steps(kIndexA, "");
    shard.Put(steps.before);
    shard.Insert(steps.before, Documents(10));
    shard.Put(steps.building);
    // Changed before the build looks at it: it has records of its own then, or none.
    EXPECT_EQ(shard.CodeOfRun(steps.building.Command("update", change)), 0);
    EXPECT_EQ(shard.CodeOfRun(steps.building.Command("update", change)), 0);
    EXPECT_EQ(shard.RunJson(steps.Build()), "{}");
    shard.Put(steps.ready);
    EXPECT_EQ(shard.Validate(steps.ready), "") << change;
  }
}

TEST(BuildIndex, ADocumentThatIsRemovedMeanwhileLeavesNoRecords) {
  ShardFixture shard;
  const Steps steps(kIndexA, "");
  shard.Put(steps.before);
  shard.Insert(steps.before, Documents(10));
  shard.Put(steps.building);
  shard.Run(steps.building.Command("delete", R"("deletes": [{"q": {"_id": 5}, "limit": 1}])"));
  EXPECT_EQ(shard.RunJson(steps.Build()), "{}");
  shard.Run(
      steps.building.Command("delete", R"("deletes": [{"q": {"_id": {"$lt": 3}}, "limit": 0}])"));
  shard.Put(steps.ready);
  EXPECT_EQ(shard.Validate(steps.ready), "");
}

TEST(BuildIndex, UniqueOnes) {
  struct Case {
    std::vector<std::string> documents;
    int code;
  };
  const Case cases[] = {
      {{R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 2})"}, 0},
      {{R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 1.0})"}, 11000},
      {{R"({"_id": 1, "a": [1, 2]})", R"({"_id": 2, "a": [2, 3]})"}, 11000},
      {{R"({"_id": 1, "a": [1, 1]})", R"({"_id": 2, "a": [2, 3]})"}, 0},
      {{R"({"_id": 1})", R"({"_id": 2})"}, 11000},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    const Steps steps(kUniqueA, "");
    shard.Put(steps.before);
    shard.Insert(steps.before, c.documents);
    shard.Put(steps.building);
    EXPECT_EQ(shard.CodeOfRun(steps.Build()), c.code) << c.documents[0];
    // Before the build has reached the end new duplicates are refused already.
    EXPECT_EQ(Field(shard.Run(steps.building.Command(
                        "insert", R"("documents": [{"_id": 8, "a": "z"}, {"_id": 9, "a": "z"}])")),
                    "writeErrors.0.code"),
              "11000");
  }
}

TEST(BuildIndex, DocumentsThatCannotBeIndexed) {
  ShardFixture shard;
  const Steps steps(R"({"key": {"a": 1, "b": 1}, "name": "n"})", "");
  shard.Put(steps.before);
  shard.Insert(steps.before, {R"({"_id": 1, "a": [1], "b": [2]})"});
  shard.Put(steps.building);
  EXPECT_EQ(shard.CodeOfRun(steps.Build()), 171);
}

TEST(BuildIndex, LargeDocumentsGoInSmallSlices) {
  ShardFixture shard;
  const Steps steps(kIndexA, "");
  shard.Put(steps.before);
  const std::string text(1'500'000, 'x');
  for (int i = 0; i < 8; ++i) {
    shard.Insert(steps.before,
                 {R"({"_id": )" + std::to_string(i) + R"(, "a": 1, "t": ")" + text + R"("})"});
  }
  shard.Put(steps.building);
  EXPECT_EQ(shard.RunJson(steps.Build()), "{}");
  shard.Put(steps.ready);
  EXPECT_EQ(shard.Validate(steps.ready), "");
}

TEST(BuildIndex, AnIndexThatIsBeingBuiltIsNotUsed) {
  ShardFixture shard;
  const Steps steps(kIndexA, "");
  shard.Put(steps.before);
  shard.Insert(steps.before, {R"({"_id": 1, "a": 1})"});
  shard.Put(steps.building);
  EXPECT_EQ(shard.Find(steps.building, R"("filter": {"a": 1})").size(), 1u);
  EXPECT_EQ(shard.CodeOfRun(steps.building.Command("find", R"("hint": "a_1")")), 2);
}

TEST(BuildIndex, OldVersionsAndUnknownIndexes) {
  ShardFixture shard;
  const Steps steps(kIndexA, "");
  shard.Put(steps.ready);
  EXPECT_EQ(shard.CodeOfRun(steps.Build()), 13388);
  EXPECT_EQ(shard.CodeOfRun(steps.ready.Command("_buildIndex", R"("index": {"$numberLong": "5"})")),
            27);
}

}  // namespace
}  // namespace evenkeel::shard
