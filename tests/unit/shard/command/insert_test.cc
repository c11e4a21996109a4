// Tests of insert: order of errors, uniqueness, retried commands, answers in time.
#include "shard/command/insert.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "shard/command/index_keys.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::Json;
using tests::List;
using tests::ShardFixture;
using tests::TestCollection;

const std::string kSession =
    R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}}, )";

std::string Txn(int number) {
  return kSession + R"("txnNumber": {"$numberLong": ")" + std::to_string(number) + R"("})";
}

// The reply of an insert without its messages: {n, [[index, code], …]}.
std::string Outcome(ShardFixture& shard, const TestCollection& collection,
                    const std::string& rest) {
  const bson::Document reply = shard.Run(collection.Command("insert", rest));
  if (!reply["code"].missing()) return "code " + Field(reply, "code");
  std::string out = "n " + Field(reply, "n");
  if (const bson::Value errors = reply["writeErrors"]; errors.Is(bson::Type::kArray)) {
    for (const auto& [key, error] : errors.AsDocument()) {
      out += ", " + Field(error.AsDocument(), "index") + ":" + Field(error.AsDocument(), "code");
    }
  }
  return out;
}

TestCollection WithUniqueA() {
  return {.indexes = {R"({"key": {"a": 1}, "name": "a_1", "unique": true})"}};
}

TEST(Insert, ReportsEachDocument) {
  struct Case {
    bool unique_a;
    bool ordered;
    std::string documents;
    std::string expected;
    int64_t count;
  };
  const Case cases[] = {
      {false, true, R"([{"_id": 1}])", "n 1", 1},
      {false, true, "[]", "n 0", 0},
      {false, true, R"([{"_id": 1}, {"_id": 2}, {"_id": 3}])", "n 3", 3},
      {false, true, R"([{"_id": 1}, {"_id": 1}, {"_id": 2}])", "n 1, 1:11000", 1},
      {false, false, R"([{"_id": 1}, {"_id": 1}, {"_id": 2}])", "n 2, 1:11000", 2},
      {false, false, R"([{"_id": 1}, {"_id": 1.0}, {"_id": {"$numberLong": "1"}}])",
       "n 1, 1:11000, 2:11000", 1},
      {true, true, R"([{"_id": 1, "a": 5}, {"_id": 2, "a": 5}, {"_id": 3, "a": 6}])",
       "n 1, 1:11000", 1},
      {true, false, R"([{"_id": 1, "a": 5}, {"_id": 2, "a": 5}, {"_id": 3, "a": 6}])",
       "n 2, 1:11000", 2},
      {true, false, R"([{"_id": 1, "a": [1, 2]}, {"_id": 2, "a": [3, 2]}, {"_id": 3, "a": 3}])",
       "n 2, 1:11000", 2},
      {true, false, R"([{"_id": 1}, {"_id": 2}])", "n 1, 1:11000", 1},  // both lack `a`
      {true, false, R"([{"_id": 1, "a": [4, 4]}, {"_id": 2, "a": []}, {"_id": 3, "a": []}])",
       "n 2, 2:11000", 2},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    const TestCollection collection = c.unique_a ? WithUniqueA() : TestCollection{};
    shard.Put(collection);
    EXPECT_EQ(Outcome(shard, collection,
                      R"("documents": )" + c.documents + R"(, "ordered": )" +
                          (c.ordered ? "true" : "false")),
              c.expected)
        << c.documents;
    EXPECT_EQ(shard.Count(collection), c.count) << c.documents;
    EXPECT_EQ(shard.Validate(collection), "") << c.documents;
  }
}

TEST(Insert, ADuplicateNamesIndexAndValue) {
  struct Case {
    std::string index, first, second, pattern, value;
  };
  const Case cases[] = {
      {"", R"({"_id": "x"})", R"({"_id": "x", "b": 1})", R"({"_id":1})", R"({"_id":"x"})"},
      {R"({"key": {"a": 1}, "name": "n", "unique": true})", R"({"_id": 1, "a": 7})",
       R"({"_id": 2, "a": 7})", R"({"a":1})", R"({"a":7})"},
      {R"({"key": {"a": 1, "b": -1}, "name": "n", "unique": true})", R"({"_id": 1, "a": 7})",
       R"({"_id": 2, "a": 7})", R"({"a":1,"b":-1})", R"({"a":7,"b":null})"},
      // Of an array the element that collides.
      {R"({"key": {"a": 1}, "name": "n", "unique": true})", R"({"_id": 1, "a": [1, 2]})",
       R"({"_id": 2, "a": [0, 2, 3]})", R"({"a":1})", R"({"a":2})"},
      {R"({"key": {"a.b": 1, "c": 1}, "name": "n", "unique": true})",
       R"({"_id": 1, "a": [{"b": 5}], "c": "z"})",
       R"({"_id": 2, "a": [{"b": 4}, {"b": 5}], "c": "z"})", R"({"a.b":1,"c":1})",
       R"({"a.b":5,"c":"z"})"},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    TestCollection collection;
    if (!c.index.empty()) collection.indexes.push_back(c.index);
    shard.Put(collection);
    shard.Insert(collection, {c.first});
    const bson::Document reply =
        shard.Run(collection.Command("insert", R"("documents": )" + List({c.second})));
    EXPECT_EQ(Field(reply, "writeErrors.0.code"), "11000") << c.second;
    EXPECT_EQ(Field(reply, "writeErrors.0.keyPattern"), c.pattern) << c.second;
    EXPECT_EQ(Field(reply, "writeErrors.0.keyValue"), c.value) << c.second;
    const std::string message = Field(reply, "writeErrors.0.errmsg");
    EXPECT_NE(message.find("E11000 duplicate key error collection: db.c index: "),
              std::string::npos)
        << message;
    EXPECT_EQ(shard.Validate(collection), "");
  }
}

TEST(Insert, SparseUniqueIndexesLetMissingValuesPass) {
  ShardFixture shard;
  const TestCollection collection{
      .indexes = {R"({"key": {"a": 1}, "name": "n", "unique": true, "sparse": true})"}};
  shard.Put(collection);
  EXPECT_EQ(Outcome(shard, collection,
                    R"("documents": [{"_id": 1}, {"_id": 2}, {"_id": 3, "a": null},
                                     {"_id": 4, "a": null}], "ordered": false)"),
            "n 3, 3:11000");
  EXPECT_EQ(shard.Validate(collection), "");
}

TEST(Insert, DocumentsThatCannotBePlacedOrIndexed) {
  struct Case {
    TestCollection collection;
    std::string document;
    int code;
  };
  const Case cases[] = {
      {{.shard_key = R"({"a": "hashed"})"}, R"({"_id": 1, "a": [1]})", 61},
      {{.shard_key = R"({"a.b": "hashed"})"}, R"({"_id": 1, "a": [{"b": 1}]})", 61},
      {{.indexes = {R"({"key": {"a": 1, "b": 1}, "name": "n"})"}},
       R"({"_id": 1, "a": [1], "b": [2]})",
       171},
      {{.indexes = {R"({"key": {"a": "hashed"}, "name": "n"})"}}, R"({"_id": 1, "a": [1]})", 16766},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    shard.Put(c.collection);
    EXPECT_EQ(Outcome(shard, c.collection,
                      R"("documents": [{"_id": 0, "a": {"b": 0}}, )" + c.document +
                          R"(, {"_id": 2}], "ordered": false)"),
              "n 2, 1:" + std::to_string(c.code))
        << c.document;
    EXPECT_EQ(shard.Count(c.collection), 2);
    EXPECT_EQ(shard.Validate(c.collection), "");
  }
}

TEST(Insert, ManySlices) {
  ShardFixture shard;
  const TestCollection collection = WithUniqueA();
  shard.Put(collection);
  std::vector<std::string> documents;
  for (int i = 0; i < 1500; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" +
                        std::to_string(i == 1200 ? 7 : i) + "}");
  }
  EXPECT_EQ(Outcome(shard, collection, R"("ordered": false, "documents": )" + List(documents)),
            "n 1499, 1200:11000");
  EXPECT_EQ(shard.Count(collection), 1499);
  EXPECT_EQ(shard.Validate(collection), "");
}

TEST(Insert, AnErrorOfALaterSliceEndsAnOrderedCommand) {
  ShardFixture shard;
  const TestCollection collection;
  shard.Put(collection);
  std::vector<std::string> documents;
  for (int i = 0; i < 1500; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i == 1000 ? 3 : i) + "}");
  }
  EXPECT_EQ(Outcome(shard, collection, R"("documents": )" + List(documents)), "n 1000, 1000:11000");
  EXPECT_EQ(shard.Count(collection), 1000);
}

// The writer may build on what is not durable yet, but nobody may be told.
TEST(Insert, NothingIsAnsweredBeforeItIsDurable) {
  ShardFixture shard;
  const TestCollection collection;
  shard.Put(collection);
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  auto first = shard.StartWrite(collection.Command("insert", R"("documents": [{"_id": 1}])"));
  auto second = shard.Start(collection.Command("insert", R"("documents": [{"_id": 1}])"));
  shard.Write([](storage::WriteContext&) {}, false);
  const auto is_waiting = [](auto& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  };
  EXPECT_TRUE(is_waiting(first));
  EXPECT_TRUE(is_waiting(second));
  shard.log.CommitUpTo(shard.log.last());
  EXPECT_EQ(Field(first.get(), "n"), "1");
  EXPECT_EQ(Field(second.get(), "writeErrors.0.code"), "11000");
}

// The duplicate that was refused must be possible after the first one was lost.
TEST(Insert, ACrashTakesBothAnswersAway) {
  ShardFixture shard;
  const TestCollection collection;
  shard.Put(collection);
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  auto first = shard.StartWrite(collection.Command("insert", R"("documents": [{"_id": 1}])"));
  auto second = shard.Start(collection.Command("insert", R"("documents": [{"_id": 1}])"));
  shard.Write([](storage::WriteContext&) {}, false);
  shard.Crash();
  EXPECT_EQ(Field(first.get(), "code"), "11600");
  EXPECT_EQ(Field(second.get(), "code"), "11600");
  EXPECT_EQ(Outcome(shard, collection, R"("documents": [{"_id": 1}])"), "n 1");
}

TEST(Insert, AnEarlyAnswerSaysFromWhenOnItIsDurable) {
  ShardFixture shard;
  const TestCollection collection;
  shard.Put(collection);
  shard.log.WaitUntilIdle();
  shard.log.Hold(true);
  const bson::Document reply = shard.Run(collection.Command(
      "insert", R"("documents": [{"_id": 1}, {"_id": 1}], )" + collection.Shard(R"("e": true)")));
  EXPECT_EQ(Field(reply, "n"), "1");
  EXPECT_EQ(Field(reply, "writeErrors.0.index"), "1");
  ASSERT_TRUE(reply["durableAt"].Is(bson::Type::kTimestamp));
  bson::Builder wait;
  wait.Append("_waitDurable", reply["durableAt"].AsTimestamp());
  auto waiting = shard.Start(wait.Finish());
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  shard.log.CommitUpTo(shard.log.last());
  EXPECT_EQ(bson::ToJson(waiting.get()), "{}");
  EXPECT_EQ(shard.Find(collection), std::vector<std::string>{R"({"_id":1})"});
}

TEST(Insert, ARepeatedCommandInsertsOnce) {
  ShardFixture shard;
  const TestCollection collection;
  shard.Put(collection);
  const std::string documents = R"("documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}])";
  EXPECT_EQ(Outcome(shard, collection, documents + ", " + Txn(1)), "n 3");
  EXPECT_EQ(Outcome(shard, collection, documents + ", " + Txn(1)), "n 3");
  shard.Restart();
  EXPECT_EQ(Outcome(shard, collection, documents + ", " + Txn(1)), "n 3");
  EXPECT_EQ(shard.Count(collection), 3);
  // A newer number is a command of its own, and ends the older one.
  EXPECT_EQ(Outcome(shard, collection, documents + ", " + Txn(2)), "n 0, 0:11000");
  EXPECT_EQ(Outcome(shard, collection, R"("documents": [{"_id": 9}], )" + Txn(2)), "n 1");
  EXPECT_EQ(Outcome(shard, collection, documents + ", " + Txn(1)), "code 225");
}

// An earlier attempt got as far as some of the documents.
TEST(Insert, PartsThatWereInsertedBefore) {
  struct Attempt {
    std::string documents, statements;
    std::string expected;
  };
  const std::vector<Attempt> cases[] = {
      {{R"([{"_id": 0}])", "", "n 1"},
       {R"([{"_id": 0}, {"_id": 1}, {"_id": 2}])", "", "n 3"},
       {R"([{"_id": 0}, {"_id": 1}, {"_id": 2}])", "", "n 3"}},
      // Other shards had the statements between.
      {{R"([{"_id": 0}, {"_id": 5}, {"_id": 9}])", R"("s": [0, 5, 9])", "n 3"},
       {R"([{"_id": 5}, {"_id": 7}, {"_id": 9}])", R"("s": [5, 7, 9])", "n 3"},
       {R"([{"_id": 7}])", R"("s": [7])", "n 1"},
       {R"([{"_id": 0}, {"_id": 3}, {"_id": 7}])", R"("s": [0, 3, 7])", "n 3"},
       {R"([{"_id": 3}, {"_id": 0}])", R"("s": [3, 0])", "n 2"}},
      // What failed has no record: it fails again or succeeds now.
      {{R"([{"_id": 0}, {"_id": 0}, {"_id": 2}])", "", "n 1, 1:11000"},
       {R"([{"_id": 0}, {"_id": 1}, {"_id": 2}])", "", "n 3"}},
  };
  for (const std::vector<Attempt>& attempts : cases) {
    ShardFixture shard;
    const TestCollection collection;
    shard.Put(collection);
    for (const Attempt& attempt : attempts) {
      EXPECT_EQ(Outcome(shard, collection,
                        R"("documents": )" + attempt.documents + ", " + Txn(4) + ", " +
                            collection.Shard(attempt.statements)),
                attempt.expected)
          << attempt.documents;
    }
    EXPECT_EQ(shard.Validate(collection), "");
  }
}

TEST(Insert, ALongRetryableCommandKeepsFewRows) {
  ShardFixture shard;
  const TestCollection collection;
  shard.Put(collection);
  std::vector<std::string> documents;
  for (int i = 0; i < 1300; ++i) documents.push_back(R"({"_id": )" + std::to_string(i) + "}");
  const std::string rest = R"("documents": )" + List(documents) + ", " + Txn(1);
  EXPECT_EQ(Outcome(shard, collection, rest), "n 1300");
  EXPECT_EQ(shard.CountRecords(storage::Table::kSessions), 3u);
  EXPECT_EQ(Outcome(shard, collection, rest), "n 1300");
  EXPECT_EQ(shard.Count(collection), 1300);
  // The session's next commands take the places of the rows.
  for (int txn = 2; txn < 10; ++txn) {
    const std::string next = R"("documents": [{"_id": -)" + std::to_string(txn) + "}], " + Txn(txn);
    EXPECT_EQ(Outcome(shard, collection, next), "n 1");
    EXPECT_EQ(Outcome(shard, collection, next), "n 1");
  }
  EXPECT_EQ(shard.CountRecords(storage::Table::kSessions), 3u);
  EXPECT_EQ(shard.Count(collection), 1308);
}

TEST(Insert, BadSessions) {
  ShardFixture shard;
  const TestCollection collection;
  shard.Put(collection);
  const std::string cases[] = {
      R"("txnNumber": {"$numberLong": "1"})",
      R"("lsid": 1, "txnNumber": {"$numberLong": "1"})",
      R"("lsid": {"id": 1}, "txnNumber": {"$numberLong": "1"})",
      R"("lsid": {"id": {"$binary": {"base64": "AAA=", "subType": "04"}}},
         "txnNumber": {"$numberLong": "1"})",
      kSession + R"("txnNumber": "1")",
  };
  for (const std::string& rest : cases) {
    EXPECT_EQ(Outcome(shard, collection, R"("documents": [{"_id": 1}], )" + rest), "code 72")
        << rest;
  }
  EXPECT_EQ(shard.Count(collection), 0);
}

TEST(Insert, StaleAndClosedCollections) {
  ShardFixture shard;
  TestCollection collection;
  shard.Put(collection);
  TestCollection old = collection;
  collection.version = 2;
  shard.Put(collection);
  EXPECT_EQ(Outcome(shard, old, R"("documents": [{"_id": 1}])"), "code 13388");
  collection.version = 3;
  collection.writes_closed = true;
  shard.Put(collection);
  EXPECT_EQ(Outcome(shard, collection, R"("documents": [{"_id": 1}])"), "code 13388");
  shard.Drop(collection);
  EXPECT_EQ(Outcome(shard, collection, R"("documents": [{"_id": 1}])"), "code 13388");
}

// A failed document's value may be long, and there may be many of them.
TEST(Insert, ErrorsStayFarBelowTheLimitOfAMessage) {
  ShardFixture shard;
  const TestCollection collection = WithUniqueA();
  shard.Put(collection);
  const std::string text(100'000, 'x');
  shard.Insert(collection, {R"({"_id": 0, "a": ")" + text + R"("})"});
  bson::Builder command;
  command.Append("insert", "c").Append("ordered", false).OpenArray("documents");
  bson::ArrayAppender documents(command);
  for (int i = 1; i <= 300; ++i) {
    command.OpenDocument(documents.NextKey()).Append("_id", i).Append("a", text).Close();
  }
  command.Close().AppendFields(Json("{" + collection.Shard() + "}"));
  const bson::Document reply = shard.Run(command.Finish());
  EXPECT_EQ(reply["writeErrors"].AsDocument().CountFields(), 300u);
  EXPECT_LT(reply.SizeBytes(), size_t{10} << 20);
  EXPECT_EQ(Field(reply, "writeErrors.299.code"), "11000");
  EXPECT_EQ(Field(reply, "writeErrors.299.errmsg"), "\"\"");
  EXPECT_NE(Field(reply, "writeErrors.0.keyValue"), "missing");
}

TEST(Insert, AFullDiskRefusesAndLeavesNothing) {
  ShardFixture shard;
  const TestCollection collection = WithUniqueA();
  shard.Put(collection);
  shard.log.SetSpace(0);
  EXPECT_EQ(Outcome(shard, collection, R"("documents": [{"_id": 1, "a": 1}])"), "code 14031");
  shard.log.SetSpace(~size_t{0});
  EXPECT_EQ(Outcome(shard, collection, R"("documents": [{"_id": 1, "a": 1}])"), "n 1");
  EXPECT_EQ(shard.Validate(collection), "");
}

}  // namespace
}  // namespace evenkeel::shard
