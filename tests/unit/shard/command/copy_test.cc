// Tests of _copyIn and _copySessions: a repeated copy changes nothing, rows of retried writes come
// along.
#include "shard/command/copy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kTarget{.id = 3000,
                             .shard_key = R"({"a": "hashed"})",
                             .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};

std::string Txn(int session, int number) {
  return R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0O)" +
         std::string(1, static_cast<char>('A' + session)) + R"(w==", "subType": "04"}}},
         "txnNumber": {"$numberLong": ")" +
         std::to_string(number) + R"("})";
}

TEST(CopyIn, TwiceIsOnce) {
  ShardFixture shard;
  shard.Put(kTarget);
  const std::string copy =
      kTarget.Command("_copyIn", R"("sessions": [], "documents": [{"_id": 1, "a": 1, "b": [1, 2]},
                                                  {"_id": 2, "a": 2}])");
  EXPECT_EQ(shard.RunJson(copy), R"({"n":2})");
  EXPECT_EQ(shard.RunJson(copy), R"({"n":0})");
  EXPECT_EQ(shard.Count(kTarget), 2);
  EXPECT_EQ(shard.Validate(kTarget), "");
}

TEST(CopyIn, ClosedCollectionsTakeCopies) {
  ShardFixture shard;
  TestCollection closed = kTarget;
  closed.writes_closed = true;
  shard.Put(closed);
  EXPECT_EQ(shard.RunJson(closed.Command("_copyIn", R"("documents": [{"_id": 1, "a": 1}])")),
            R"({"n":1})");
}

TEST(CopyIn, ManyLargeDocumentsAreSeveralRecordsOfTheLog) {
  ShardFixture shard;
  shard.Put(kTarget);
  const std::string text(1'000'000, 'x');
  bson::Builder command;
  command.Append("_copyIn", 1).OpenArray("documents");
  bson::ArrayAppender documents(command);
  for (int i = 0; i < 14; ++i) {
    command.OpenDocument(documents.NextKey());
    command.Append("_id", i).Append("a", i).Append("t", text).Close();
  }
  command.Close().AppendFields(Json("{" + kTarget.Shard() + "}"));
  EXPECT_EQ(Field(shard.Run(command.Finish()), "n"), "14");
  for (const storage::LogEntry& entry : shard.log.entries()) {
    EXPECT_LT(entry.payload.size(), size_t{6} << 20);
  }
  EXPECT_EQ(shard.Validate(kTarget), "");
}

TEST(CopyIn, DocumentsThatCannotBePlacedAndDuplicates) {
  ShardFixture shard;
  TestCollection target = kTarget;
  target.indexes = {R"({"key": {"a": 1}, "name": "a_1", "unique": true})"};
  shard.Put(target);
  EXPECT_EQ(shard.CodeOfRun(target.Command("_copyIn", R"("documents": [{"_id": 1, "a": [1]}])")),
            61);
  EXPECT_EQ(shard.CodeOfRun(target.Command(
                "_copyIn", R"("documents": [{"_id": 1, "a": 1}, {"_id": 2, "a": 1}])")),
            11000);
  EXPECT_EQ(shard.CodeOfRun(target.Command("_copyIn", R"("documents": [], "sessions": [1])")), 72);
  EXPECT_EQ(shard.Validate(target), "");
}

TEST(CopyIn, OldVersionsAndDroppedCollections) {
  ShardFixture shard;
  shard.Put(kTarget);
  TestCollection later = kTarget;
  later.version = 2;
  const std::string rest = R"("documents": [{"_id": 1, "a": 1}])";
  EXPECT_EQ(shard.CodeOfRun(later.Command("_copyIn", rest)), 13388);
  EXPECT_EQ(shard.CodeOfRun(later.Command("_copySessions", "")), 13388);
  // The drop is executed, but not visible yet, when the copy comes: nothing may be written.
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  auto drop = shard.StartWrite(
      R"({"_applyCatalog": 1, "job": "x", "put": [], "drop": [{"$numberLong": "3000"}]})");
  shard.Write([](storage::WriteContext&) {}, false);
  auto copy = shard.Start(kTarget.Command("_copyIn", rest));
  shard.Write([](storage::WriteContext&) {}, false);
  shard.log.Hold(false);
  drop.get();
  EXPECT_EQ(Field(copy.get(), "code"), "13388");
  EXPECT_EQ(shard.CountRecords(storage::Table::kIndex), 0u);
}

// A statement that was applied before the copy is not applied again behind it.
TEST(CopySessions, RetriedWritesFindTheirResults) {
  ShardFixture source;
  TestCollection from;
  source.Put(from);
  const std::string one = R"("updates": [{"q": {"_id": 1, "a": 1}, "u": {"$inc": {"n": 1}},
                                          "upsert": true}], )" +
                          Txn(0, 5);
  const std::string two = R"("documents": [{"_id": 2, "a": 1}, {"_id": 3, "a": 1}], )" + Txn(1, 2);
  EXPECT_EQ(source.CodeOfRun(from.Command("update", one)), 0);
  EXPECT_EQ(source.CodeOfRun(from.Command("insert", two)), 0);
  // A row of another collection stays.
  TestCollection other;
  other.id = 2000;
  source.Put(other);
  EXPECT_EQ(source.CodeOfRun(
                other.Command("insert", R"("documents": [{"_id": 2, "a": 1}], )" + Txn(2, 1))),
            0);
  const bson::Document rows = source.Run(from.Command("_copySessions", ""));
  EXPECT_EQ(rows["rows"].AsDocument().CountFields(), 2u);
  EXPECT_TRUE(rows["after"].missing());

  ShardFixture target;
  target.Put(kTarget);
  bson::Builder copy;
  copy.Append("_copyIn", 1).Append("sessions", rows["rows"]).OpenArray("documents").Close();
  copy.AppendFields(Json("{" + kTarget.Shard() + "}"));
  EXPECT_EQ(Field(target.Run(copy.Finish()), "n"), "0");
  EXPECT_EQ(target.RunJson(kTarget.Command("update", one)),
            R"({"n":1,"nModified":0,"upserted":[{"index":0,"_id":1}]})");
  EXPECT_EQ(target.RunJson(kTarget.Command("insert", two)), R"({"n":2})");
  EXPECT_EQ(target.Count(kTarget), 0);
}

TEST(CopySessions, ExpiredRowsAreLeftOut) {
  ShardFixture shard;
  const TestCollection from;
  shard.Put(from);
  EXPECT_EQ(shard.CodeOfRun(from.Command("insert", R"("documents": [{"_id": 1}], )" + Txn(0, 1))),
            0);
  shard.wall.Advance(absl::Minutes(20));
  EXPECT_EQ(shard.CodeOfRun(from.Command("insert", R"("documents": [{"_id": 2}], )" + Txn(1, 1))),
            0);
  shard.wall.Advance(absl::Minutes(11));
  EXPECT_EQ(shard.Run(from.Command("_copySessions", ""))["rows"].AsDocument().CountFields(), 1u);
}

// Images of findAndModify are large: replies end in time, and say where to go on.
TEST(CopySessions, ComesInParts) {
  ShardFixture shard;
  const TestCollection from;
  shard.Put(from);
  const std::string text(3'000'000, 'x');
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(shard.CodeOfRun(from.Command("findAndModify",
                                           R"("query": {"_id": )" + std::to_string(i) +
                                               R"(}, "update": {"t": ")" + text +
                                               R"("}, "upsert": true, "new": true, )" + Txn(i, 1))),
              0);
  }
  size_t rows = 0;
  std::string after;
  int parts = 0;
  do {
    bson::Builder command;
    command.Append("_copySessions", 1);
    if (!after.empty()) command.AppendBinary("after", 0, after);
    command.AppendFields(Json("{" + from.Shard() + "}"));
    const bson::Document reply = shard.Run(command.Finish());
    EXPECT_LT(reply.SizeBytes(), size_t{12} << 20);
    rows += reply["rows"].AsDocument().CountFields();
    after.clear();
    if (!reply["after"].missing()) after = std::string(reply["after"].AsBinary().bytes);
    ++parts;
  } while (!after.empty() && parts < 20);
  EXPECT_EQ(rows, 8u);
  EXPECT_GE(parts, 3);
}

}  // namespace
}  // namespace evenkeel::shard
