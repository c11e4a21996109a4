// Tests of the commands behind writes without the shard key: _choose, targets, _findRecord.
#include "shard/command/keyless.h"

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

const TestCollection kSharded{.shard_key = R"({"a": "hashed"})",
                              .indexes = {R"({"key": {"b": 1}, "name": "b_1"})"}};

std::string Txn(int number) {
  return R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}},
            "txnNumber": {"$numberLong": ")" +
         std::to_string(number) + R"("})";
}

bson::Document Choose(ShardFixture& shard, const std::string& rest) {
  return shard.Run(kSharded.Command("_choose", rest));
}

// A command that is addressed to the chosen document.
bson::Document Targeted(ShardFixture& shard, const std::string& name, const std::string& rest,
                        bson::View choice) {
  bson::Builder command(Json(R"({")" + name + R"(": "c", )" + rest + "}"));
  command.OpenDocument("$shard")
      .Append("c", static_cast<int64_t>(kSharded.id))
      .Append("v", static_cast<int64_t>(kSharded.version))
      .Append("t", choice["t"])
      .Close();
  return shard.Run(command.Finish());
}

ShardFixture& WithThree(ShardFixture& shard) {
  shard.Put(kSharded);
  shard.Insert(kSharded, {R"({"_id": 1, "a": 1, "b": 3})", R"({"_id": 2, "a": 2, "b": 1})",
                          R"({"_id": 3, "a": 3, "b": 2})"});
  return shard;
}

TEST(Choose, TheFirstInSortOrder) {
  struct Case {
    std::string rest, sort_key;
    bool found;
  };
  const Case cases[] = {
      {R"("filter": {})", "missing", true},
      {R"("filter": {"b": {"$gt": 1}}, "sort": {"b": 1})", "[2]", true},
      {R"("filter": {}, "sort": {"b": -1})", "[3]", true},
      {R"("filter": {}, "sort": {"x": 1, "_id": -1})", "[null,3]", true},
      {R"("filter": {"b": 9}, "sort": {"b": 1})", "missing", false},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    const bson::Document choice = Choose(WithThree(shard), c.rest);
    EXPECT_EQ(Field(choice, "found"), c.found ? "true" : "false") << c.rest;
    EXPECT_EQ(choice["t"].Is(bson::Type::kBinary), c.found) << c.rest;
    EXPECT_EQ(Field(choice, "sortKey"), c.sort_key) << c.rest;
  }
}

TEST(Choose, ATargetIsWrittenWhileItMatches) {
  ShardFixture shard;
  WithThree(shard);
  const bson::Document choice = Choose(shard, R"("filter": {}, "sort": {"b": 1})");
  EXPECT_EQ(
      bson::ToJson(Targeted(shard, "update",
                            R"("updates": [{"q": {"b": 1}, "u": {"$inc": {"b": 10}}}])", choice)),
      R"({"n":1,"nModified":1})");
  EXPECT_EQ(
      bson::ToJson(Targeted(shard, "update",
                            R"("updates": [{"q": {"b": 1}, "u": {"$inc": {"b": 10}}}])", choice)),
      R"({"n":0,"nModified":0,"missed":true})");
  EXPECT_EQ(Field(Targeted(shard, "findAndModify",
                           R"("query": {"b": 1}, "update": {"$inc": {"b": 1}})", choice),
                  "missed"),
            "true");
  EXPECT_EQ(
      Field(Targeted(shard, "findAndModify",
                     R"("query": {"b": 11}, "update": {"$inc": {"b": 1}}, "new": true)", choice),
            "value"),
      R"({"_id":2,"a":2,"b":12})");
  EXPECT_EQ(bson::ToJson(
                Targeted(shard, "delete", R"("deletes": [{"q": {"b": 12}, "limit": 1}])", choice)),
            R"({"n":1})");
  EXPECT_EQ(
      Field(Targeted(shard, "delete", R"("deletes": [{"q": {}, "limit": 1}])", choice), "missed"),
      "true");
  // A target never inserts.
  EXPECT_EQ(Field(Targeted(shard, "findAndModify",
                           R"("query": {}, "update": {"$inc": {"b": 1}}, "upsert": true)", choice),
                  "missed"),
            "true");
  EXPECT_EQ(shard.Count(kSharded), 2);
  EXPECT_EQ(shard.Validate(kSharded), "");
}

TEST(FindRecord, ShowsTheReplyOfTheStatement) {
  struct Case {
    std::string command, rest;
    std::string kind, result;
  };
  const Case cases[] = {
      {"update", R"("updates": [{"q": {"a": 1}, "u": {"$inc": {"b": 1}}}])", "2",
       R"({"n":1,"nModified":1})"},
      {"update", R"("updates": [{"q": {"a": 9, "_id": 9}, "u": {"b": 1}, "upsert": true}])", "2",
       ""},
      {"delete", R"("deletes": [{"q": {"b": 1}, "limit": 1}])", "3", R"({"n":1})"},
      {"insert", R"("documents": [{"_id": 7, "a": 7}])", "1", R"({"n":1})"},
      {"findAndModify", R"("query": {"b": 1}, "remove": true)", "4",
       R"({"lastErrorObject":{"n":1},"value":{"_id":2,"a":2,"b":1}})"},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    WithThree(shard);
    const std::string find = kSharded.Command("_findRecord", R"("statement": 4, )" + Txn(3));
    EXPECT_EQ(shard.RunJson(find), R"({"found":false})");
    const bson::Document reply = shard.Run(
        kSharded.Command(c.command, c.rest + ", " + Txn(3) + ", " + kSharded.Shard(R"("s": [4])")));
    ASSERT_TRUE(reply["code"].missing()) << bson::ToJson(reply);
    for (const bool restarted : {false, true}) {
      if (restarted) shard.Restart();
      const bson::Document record = shard.Run(find);
      EXPECT_EQ(Field(record, "found"), "true") << c.command;
      EXPECT_EQ(Field(record, "kind"), c.kind) << c.command;
      EXPECT_EQ(Field(record, "result"), c.result.empty() ? bson::ToJson(reply) : c.result);
    }
    EXPECT_EQ(shard.RunJson(kSharded.Command("_findRecord", R"("statement": 5, )" + Txn(3))),
              R"({"found":false})");
    EXPECT_EQ(shard.RunJson(kSharded.Command("_findRecord", R"("statement": 4, )" + Txn(4))),
              R"({"found":false})");
    EXPECT_EQ(shard.CodeOfRun(kSharded.Command("_findRecord", R"("statement": 4, )" + Txn(2))),
              225);
  }
}

// The first attempt was executed, but is not durable yet when the second one asks.
TEST(FindRecord, SeesWhatIsOnItsWay) {
  ShardFixture shard;
  WithThree(shard);
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  auto update = shard.StartWrite(kSharded.Command(
      "update", R"("updates": [{"q": {"a": 1}, "u": {"$inc": {"b": 1}}}], )" + Txn(3)));
  shard.Write([](storage::WriteContext&) {}, false);
  auto record = shard.Start(kSharded.Command("_findRecord", R"("statement": 0, )" + Txn(3)));
  shard.Write([](storage::WriteContext&) {}, false);
  EXPECT_EQ(record.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  shard.log.Hold(false);
  EXPECT_EQ(Field(record.get(), "found"), "true");
  update.get();
}

TEST(Keyless, BadRequests) {
  ShardFixture shard;
  WithThree(shard);
  TestCollection later = kSharded;
  later.version = 2;
  EXPECT_EQ(shard.CodeOfRun(later.Command("_choose", R"("filter": {})")), 13388);
  EXPECT_EQ(shard.CodeOfRun(later.Command("_findRecord", R"("statement": 0, )" + Txn(1))), 13388);
  EXPECT_EQ(shard.CodeOfRun(kSharded.Command("_findRecord", Txn(1))), 72);
  EXPECT_EQ(shard.CodeOfRun(kSharded.Command("_choose", R"("filter": {"a": {"$bad": 1}})")), 2);
  EXPECT_EQ(shard.CodeOfRun(R"({"_waitDurable": 1})"), 14);
}

}  // namespace
}  // namespace evenkeel::shard
