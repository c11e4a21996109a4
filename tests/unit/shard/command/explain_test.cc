// Tests of explain: the plan of each kind of command, and what running it has looked at.
#include "shard/command/explain.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kIndexed{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})"}};

std::string Explain(const std::string& command, const std::string& verbosity) {
  return R"({"explain": )" + command + R"(, "verbosity": ")" + verbosity + R"(", )" +
         kIndexed.Shard() + "}";
}

TEST(Explain, PlansAndCounts) {
  struct Case {
    std::string command;
    std::string returned, keys, documents;
  };
  const Case cases[] = {
      {R"({"find": "c", "filter": {"a": {"$lt": 3}}})", "3", "3", "3"},
      {R"({"find": "c", "filter": {"b": 1}})", "10", "0", "20"},
      {R"({"find": "c", "filter": {"_id": 3}})", "1", "0", "1"},
      {R"({"find": "c", "filter": {"a": {"$lt": 9}}, "limit": {"$numberLong": "2"}})", "2", "2",
       "2"},
      {R"({"count": "c", "query": {"a": 1}})", "1", "1", "1"},
      {R"({"distinct": "c", "key": "a", "query": {"a": {"$gte": 18}}})", "2", "2", "2"},
      {R"({"aggregate": "c", "pipeline": [{"$match": {"a": 1}}], "cursor": {}})", "1", "1", "1"},
      {R"({"update": "c", "updates": [{"q": {"a": 1}, "u": {"$set": {"x": 1}}}]})", "1", "1", "1"},
      {R"({"delete": "c", "deletes": [{"q": {"a": 1}, "limit": 1}]})", "1", "1", "1"},
      {R"({"findAndModify": "c", "query": {"a": 1}, "remove": true})", "1", "1", "1"},
  };
  ShardFixture shard;
  shard.Put(kIndexed);
  std::vector<std::string> documents;
  for (int i = 0; i < 20; ++i) {
    documents.push_back(R"({"_id": )" + std::to_string(i) + R"(, "a": )" + std::to_string(i) +
                        R"(, "b": )" + std::to_string(i % 2) + "}");
  }
  shard.Insert(kIndexed, documents);
  for (const Case& c : cases) {
    const bson::Document reply = shard.Run(Explain(c.command, "executionStats"));
    EXPECT_EQ(Field(reply, "queryPlanner.namespace"), "\"db.c\"") << c.command;
    EXPECT_NE(Field(reply, "queryPlanner.winningPlan.stage"), "missing") << c.command;
    EXPECT_EQ(Field(reply, "executionStats.nReturned"), c.returned) << c.command;
    EXPECT_EQ(Field(reply, "executionStats.totalKeysExamined"), c.keys) << c.command;
    EXPECT_EQ(Field(reply, "executionStats.totalDocsExamined"), c.documents) << c.command;
    EXPECT_TRUE(shard.Run(Explain(c.command, "queryPlanner"))["executionStats"].missing());
  }
  EXPECT_EQ(shard.Count(kIndexed), 20);  // nothing was written
}

TEST(Explain, WhatCannotBeExplained) {
  ShardFixture shard;
  shard.Put(kIndexed);
  EXPECT_EQ(shard.CodeOfRun(Explain(R"({"insert": "c"})", "queryPlanner")), 59);
  EXPECT_EQ(shard.CodeOfRun(Explain("1", "queryPlanner")), 14);
  EXPECT_EQ(shard.CodeOfRun(Explain(R"({"update": "c", "updates": []})", "queryPlanner")), 16);
  TestCollection later = kIndexed;
  later.version = 2;
  EXPECT_EQ(shard.CodeOfRun(R"({"explain": {"find": "c"}, )" + later.Shard() + "}"), 13388);
}

}  // namespace
}  // namespace evenkeel::shard
