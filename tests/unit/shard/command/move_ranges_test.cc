// Tests of a move of ranges on the shard that gives and on the one that gets: what is seen, counted
// and unique before, while and after documents have another owner; orphans.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/hash.h"
#include "base/bson/json.h"
#include "catalog/assignment.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;

constexpr char kCopiedTo[] =
    R"({"id": {"$numberLong": "5000"}, "key": {"a": "hashed"}, "assignment": "next"})";

// Shard 0 of two; the ranges "next" give everything to one of them.
class MoveRanges : public testing::Test {
 protected:
  void Begin(uint32_t gets_all) {
    shard_.Put(At(1));
    ASSERT_EQ(shard_.CodeOfRun(R"({"_applyCatalog": 1, "assignments": [{"_id": "next",
        "version": {"$numberLong": "2"}, "ranges": [{"min": {"$numberLong":
        "-9223372036854775808"}, "shard": )" +
                               std::to_string(gets_all) + R"(}]}], "put": [], "drop": []})"),
              0);
  }
  static TestCollection At(uint64_t version) {
    return {.id = 1000,
            .version = version,
            .shard_key = R"({"a": "hashed"})",
            .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};
  }
  static TestCollection Moving(uint64_t version, bool closed = false) {
    TestCollection collection = At(version);
    collection.copied_to = kCopiedTo;
    collection.writes_closed = closed;
    return collection;
  }
  static TestCollection Moved(uint64_t version) {
    TestCollection collection = At(version);
    collection.assignment = "next";
    return collection;
  }
  // Documents {_id: from + i, a, b: 1} whose `a` belongs to the shard.
  static std::vector<std::string> Owned(uint32_t shard, int count, int from = 0) {
    const auto ranges = catalog::Assignment::Equal("default", 2);
    std::vector<std::string> documents;
    for (int a = 0; static_cast<int>(documents.size()) < count; ++a) {
      const bson::Document value = Json(R"({"a": )" + std::to_string(a) + "}");
      if (ranges.OwnerOf(bson::HashValue(value["a"])) != ShardId{shard}) continue;
      const auto id = std::to_string(from + static_cast<int>(documents.size()));
      documents.push_back(R"({"_id": )" + id + R"(, "a": )" + std::to_string(a) + R"(, "b": 1})");
    }
    return documents;
  }
  int CopyIn(const TestCollection& collection, const std::vector<std::string>& documents) {
    std::string list;
    for (const std::string& document : documents) list += (list.empty() ? "" : ", ") + document;
    return shard_.CodeOfRun(collection.Command("_copyIn", R"("documents": [)" + list + "]"));
  }
  int64_t Removed(const TestCollection& collection) {
    return shard_.Run(collection.Command("_removeOrphans", ""))["removed"].AsInt64();
  }
  static size_t FieldsOf(const bson::Document& reply, std::string_view array) {
    return reply[array].AsDocument().CountFields();
  }

  ShardFixture shard_{{.shard = 0, .shards = 2}};
};

TEST_F(MoveRanges, TheShardThatGives) {
  Begin(1);
  const std::vector<std::string> documents = Owned(0, 10);
  shard_.Insert(At(1), documents);
  shard_.Put(Moving(2));
  EXPECT_EQ(FieldsOf(shard_.Run(Moving(2).Command("_copyOut", "")), "documents"), 10u);
  EXPECT_EQ(shard_.CodeOfRun(Moving(2).Command(
                "update", R"("updates": [{"q": {"_id": 3}, "u": {"$set": {"b": 2}}}])")),
            0);
  EXPECT_EQ(shard_.CodeOfRun(
                Moving(2).Command("delete", R"("deletes": [{"q": {"_id": 4}, "limit": 1}])")),
            0);
  EXPECT_EQ(FieldsOf(shard_.Run(Moving(2).Command("_changes", "")), "notes"), 2u);
  shard_.Put(Moving(3, true));
  const int64_t bytes = shard_.Run(Moving(3).Command("_collStats", ""))["size"].AsInt64();
  const auto leaving = [&](int64_t count) {
    return Moving(3).Command(
        "_noteLeaving", R"("documents": {"$numberLong": ")" + std::to_string(count) +
                            R"("}, "bytes": {"$numberLong": ")" + std::to_string(bytes) + "\"}");
  };
  EXPECT_EQ(shard_.CodeOfRun(leaving(8)), 1) << "the shard keeps none: all must have gone";
  EXPECT_EQ(shard_.CodeOfRun(leaving(10)), 1);
  EXPECT_EQ(shard_.CodeOfRun(leaving(9)), 0);
  EXPECT_EQ(shard_.Count(Moving(3)), 9) << "they are still its own";

  shard_.Put(Moved(4));
  EXPECT_EQ(shard_.Count(Moved(4)), 0);
  EXPECT_TRUE(shard_.Find(Moved(4)).empty());
  EXPECT_TRUE(shard_.Find(Moved(4), R"("filter": {"b": 1}, "hint": "b_1")").empty());
  EXPECT_EQ(shard_.Validate(Moved(4)), "");
  shard_.Restart();
  EXPECT_EQ(shard_.Run(Moved(4).Command("_collStats", ""))["numOrphanDocs"].AsInt64(), 9);
  EXPECT_EQ(Removed(Moved(4)), 9);
  EXPECT_EQ(Removed(Moved(4)), 0);
  EXPECT_EQ(shard_.Validate(Moved(4)), "");
  EXPECT_EQ(shard_.CountRecords(storage::Table::kDocs, ""), 0u);
}

TEST_F(MoveRanges, TheShardThatGets) {
  Begin(0);
  const std::vector<std::string> mine = Owned(0, 3, 100), theirs = Owned(1, 5);
  shard_.Insert(At(1), mine);
  shard_.Put(Moving(2));
  EXPECT_EQ(CopyIn(Moving(2), theirs), 0);
  EXPECT_EQ(CopyIn(Moving(2), theirs), 0) << "repeatable";
  EXPECT_EQ(shard_.Count(Moving(2)), 3);
  EXPECT_EQ(shard_.Find(Moving(2)).size(), 3u);
  EXPECT_EQ(shard_.Find(Moving(2), R"("filter": {"b": 1}, "hint": "b_1")").size(), 3u);
  EXPECT_EQ(shard_.Validate(Moving(2)), "");
  const bson::Document arrivals = shard_.Run(Moving(2).Command("_arrivals", ""));
  ASSERT_EQ(FieldsOf(arrivals, "arrivals"), 1u);
  EXPECT_EQ(arrivals["arrivals"].AsDocument().Front().value.AsDocument()["documents"].AsInt64(), 5);
  shard_.Put(Moved(3));
  EXPECT_EQ(shard_.Count(Moved(3)), 8);
  EXPECT_EQ(shard_.Find(Moved(3)).size(), 8u);
  EXPECT_EQ(shard_.Validate(Moved(3)), "");
  EXPECT_EQ(Removed(Moved(3)), 0);
}

TEST_F(MoveRanges, AMoveThatIsGivenUpLeavesOrphans) {
  Begin(0);
  shard_.Insert(At(1), Owned(0, 3, 100));
  shard_.Put(Moving(2));
  EXPECT_EQ(CopyIn(Moving(2), Owned(1, 5)), 0);
  shard_.Put(At(3));
  EXPECT_EQ(shard_.Count(At(3)), 3);
  EXPECT_EQ(shard_.Validate(At(3)), "");
  // They take no `_id` from a document of this shard.
  EXPECT_EQ(shard_.CodeOfRun(At(3).Command("insert", R"("documents": [)" + Owned(0, 1)[0] + "]")),
            0);
  // The next move must not take them for documents that it has brought.
  EXPECT_EQ(shard_.CodeOfRun(R"({"_applyCatalog": 1, "put": [)" + Moving(4).Entry() +
                             R"(], "drop": []})"),
            20);
  EXPECT_EQ(Removed(At(3)), 5);
  EXPECT_EQ(shard_.Count(At(3)), 4);
  EXPECT_EQ(shard_.Validate(At(3)), "");
  shard_.Put(Moving(4));
  EXPECT_EQ(CopyIn(Moving(4), Owned(1, 5, 50)), 0);
  shard_.Put(Moved(5));
  EXPECT_EQ(shard_.Count(Moved(5)), 9);
  EXPECT_EQ(shard_.Validate(Moved(5)), "");
}

TEST_F(MoveRanges, EqualIdsAreNotedAndLookedAtAgain) {
  Begin(0);
  shard_.Insert(At(1), Owned(0, 3));
  shard_.Put(Moving(2));
  EXPECT_EQ(CopyIn(Moving(2), Owned(1, 2)), 0) << "they may have changed hands meanwhile";
  EXPECT_EQ(shard_.CodeOfRun(Moving(2).Command("_checkClashes", "")), 11000);
  for (const char* id : {"0", "1"}) {
    const std::string filter = std::string(R"({"_id": )") + id + "}";
    EXPECT_EQ(shard_.CodeOfRun(Moving(2).Command(
                  "delete", R"("deletes": [{"q": )" + filter + R"(, "limit": 1}])")),
              0);
  }
  EXPECT_EQ(shard_.CodeOfRun(Moving(2).Command("_checkClashes", "")), 0);
  EXPECT_EQ(
      shard_.CodeOfRun(Moving(2).Command("insert", R"("documents": [)" + Owned(0, 1)[0] + "]")), 0)
      << "what arrives takes no `_id` yet";
  EXPECT_EQ(shard_.CodeOfRun(Moving(2).Command("_checkClashes", "")), 11000);
}

TEST_F(MoveRanges, CursorsOfBeforeGoOnUntilOrphansAreRemoved) {
  Begin(1);
  shard_.Insert(At(1), Owned(0, 10));
  const auto open = [this](uint64_t version) {
    const bson::Document reply = shard_.Run(At(version).Command("find", R"("batchSize": 2)"));
    return reply["cursor"].AsDocument()["id"].AsInt64();
  };
  const int64_t goes_on = open(1), ends = open(1);
  shard_.Put(Moving(2));
  shard_.Put(Moved(3));
  const auto more = [this](int64_t id, int batch) {
    return shard_.Run(R"({"getMore": {"$numberLong": ")" + std::to_string(id) +
                      R"("}, "collection": "c", "batchSize": )" + std::to_string(batch) +
                      R"(, "$db": "db"})");
  };
  const bson::Document rest = more(goes_on, 100);
  EXPECT_EQ(rest["cursor"].AsDocument()["nextBatch"].AsDocument().CountFields(), 8u);
  EXPECT_EQ(Removed(Moved(3)), 10);
  EXPECT_EQ(more(ends, 2)["code"].AsInt32(), 175);
}

TEST_F(MoveRanges, ADropRemovesOrphansToo) {
  Begin(0);
  shard_.Put(Moving(2));
  EXPECT_EQ(CopyIn(Moving(2), Owned(1, 5)), 0);
  shard_.Put(At(3));
  shard_.Drop(At(3));
  EXPECT_TRUE(shard_.store().FinishRemovals().ok());
  EXPECT_EQ(shard_.CountRecords(storage::Table::kDocs, ""), 0u);
}

}  // namespace
}  // namespace evenkeel::shard
