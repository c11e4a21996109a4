// Tests of the commands _initShard, _commitCatalog.
#include "shard/command/catalog_commands.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "catalog/assignment.h"
#include "catalog/config_collections.h"
#include "catalog/shard_catalog.h"
#include "shard/command/command.h"
#include "storage/keys/key_encoding.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using storage::Table;
using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

bson::Document Init(std::string_view cluster, int32_t shard) {
  bson::Builder init;
  init.Append("_initShard", 1)
      .AppendObjectId("clusterId", cluster)
      .Append("shard", shard)
      .Append("assignment", catalog::Assignment::Equal("default", 3).ToBson());
  return init.Finish();
}

TEST(InitShard, GivesAnIdentityOnce) {
  ShardFixture shard({.init = false});
  EXPECT_EQ(bson::ToJson(shard.Run(Init("twelve bytes", 2))), "{}");
  EXPECT_EQ(bson::ToJson(shard.Run(Init("twelve bytes", 2))), "{}");
  EXPECT_EQ(Field(shard.Run(Init("another one ", 2)), "code"), "23");
  EXPECT_EQ(Field(shard.Run(Init("twelve bytes", 1)), "code"), "23");
  shard.Restart();
  EXPECT_EQ(Field(shard.Run(Init("twelve bytes", 1)), "code"), "23");
  const storage::ReadSlice slice = shard.store().Read();
  EXPECT_EQ(CatalogOf(slice).shard(), ShardId{2});
  EXPECT_EQ(CatalogOf(slice).FindAssignment("default")->ranges().size(), 3u);
}

TEST(InitShard, BadOnesAreRefused) {
  ShardFixture shard({.init = false});
  for (const char* json : {R"({"_initShard": 1})", R"({"_initShard": 1, "clusterId": 1, "shard": 0,
                               "assignment": {}})"}) {
    EXPECT_EQ(shard.CodeOfRun(json), 72) << json;
  }
  bson::Builder init;
  init.Append("_initShard", 1).AppendObjectId("clusterId", "twelve bytes").Append("shard", 0);
  init.Append("assignment", bson::View());
  EXPECT_EQ(Field(shard.Run(init.Finish()), "code"), "22");
}

std::string Commit(const std::string& expect, const std::string& writes) {
  return R"({"_commitCatalog": 1, "expect": )" + expect + R"(, "writes": )" + writes + "}";
}

TestCollection Config(CollectionId id, const std::string& ns) {
  TestCollection collection;
  collection.id = id.value;
  collection.ns = ns;
  return collection;
}

TEST(CommitCatalog, ExpectationsDecideOnAllWrites) {
  const TestCollection catalog = Config(catalog::kConfigCatalog, "config.catalog");
  const std::string put_b = R"([{"c": 1, "_id": "b", "d": {"_id": "b", "version": 1}}])";
  struct Case {
    std::string expect;
    int code;
  };
  // {"_id": "a", "version": 3} is there.
  const Case cases[] = {
      {"[]", 0},
      {R"([{"c": 1, "_id": "a", "exists": true}])", 0},
      {R"([{"c": 1, "_id": "a", "exists": false}])", 117},
      {R"([{"c": 1, "_id": "x", "exists": false}])", 0},
      {R"([{"c": 1, "_id": "x", "exists": true}])", 117},
      {R"([{"c": 1, "_id": "a", "version": 3}])", 0},
      {R"([{"c": 1, "_id": "a", "version": {"$numberLong": "3"}}])", 0},
      {R"([{"c": 1, "_id": "a", "version": 2}])", 117},
      {R"([{"c": 1, "_id": "x", "version": 2}])", 117},
      {R"([{"c": 1, "_id": "a", "version": 3}, {"c": 7, "_id": "a", "exists": true}])", 117},
      {R"([{"c": 999, "_id": "a", "exists": true}])", 20},
      {R"([{"c": 1000, "_id": "a", "exists": false}])", 20},
      {R"([1])", 72},
      {R"([{"c": 1}])", 72},
      {R"({})", 72},
  };
  for (const Case& c : cases) {
    ShardFixture shard;
    shard.Put(TestCollection{});  // id 1000: not of config
    EXPECT_EQ(
        shard.CodeOfRun(Commit("[]", R"([{"c": 1, "_id": "a", "d": {"_id": "a", "version": 3}}])")),
        0);
    EXPECT_EQ(shard.CodeOfRun(Commit(c.expect, put_b)), c.code) << c.expect;
    EXPECT_EQ(shard.Count(catalog), c.code == 0 ? 2 : 1) << c.expect;
    EXPECT_EQ(shard.Validate(catalog), "");
  }
}

TEST(CommitCatalog, Writes) {
  ShardFixture shard;
  const TestCollection catalog = Config(catalog::kConfigCatalog, "config.catalog");
  const TestCollection jobs = Config(catalog::kConfigJobs, "config.jobs");
  const auto commit = [&](const std::string& writes) {
    EXPECT_EQ(shard.CodeOfRun(Commit("[]", writes)), 0) << writes;
  };
  commit(R"([{"c": 1, "_id": "a", "d": {"_id": "a", "x": 1}},
             {"c": 7, "_id": "a", "d": {"_id": "a", "x": 2}}])");
  commit(R"([{"c": 1, "_id": "a", "d": {"_id": "a", "x": 3}},
             {"c": 1, "_id": "b", "d": {"_id": "b"}},
             {"c": 7, "_id": "a"}, {"c": 7, "_id": "unknown"}])");
  EXPECT_EQ(shard.Find(catalog),
            (std::vector<std::string>{R"({"_id":"a","x":3})", R"({"_id":"b"})"}));
  EXPECT_EQ(shard.Count(jobs), 0);
  // Only when it is not there yet.
  commit(R"([{"c": 1, "_id": "a", "d": {"_id": "a", "x": 4}, "once": true},
             {"c": 1, "_id": "c", "d": {"_id": "c"}, "once": true}])");
  // Twice in one batch: the last one stays.
  commit(R"([{"c": 7, "_id": "z", "d": {"_id": "z", "x": 1}},
             {"c": 7, "_id": "z", "d": {"_id": "z", "x": 2}}, {"c": 1, "_id": "b"}])");
  shard.Restart();
  EXPECT_EQ(shard.Find(catalog),
            (std::vector<std::string>{R"({"_id":"a","x":3})", R"({"_id":"c"})"}));
  EXPECT_EQ(shard.Find(jobs), std::vector<std::string>{R"({"_id":"z","x":2})"});
  EXPECT_EQ(shard.Validate(catalog), "");
  EXPECT_EQ(shard.Validate(jobs), "");
}

TEST(CommitCatalog, AFailingWriteTakesBackTheOthers) {
  ShardFixture shard;
  shard.Put(TestCollection{});
  EXPECT_EQ(shard.CodeOfRun(Commit("[]", R"([{"c": 1, "_id": "a", "d": {"_id": "a"}},
                                             {"c": 1000, "_id": "b", "d": {"_id": "b"}}])")),
            20);
  EXPECT_EQ(shard.Count(Config(catalog::kConfigCatalog, "config.catalog")), 0);
  EXPECT_EQ(shard.Count(TestCollection{}), 0);
}

// Two routers take the same name: one of them must fail.
TEST(CommitCatalog, OneOfManyAtOnceWins) {
  ShardFixture shard;
  std::vector<std::future<bson::Document>> running;
  for (int i = 0; i < 20; ++i) {
    running.push_back(shard.Start(Commit(R"([{"c": 7, "_id": "job", "exists": false}])",
                                         R"([{"c": 7, "_id": "job", "d": {"_id": "job"}}])")));
  }
  int won = 0;
  for (auto& one : running) won += one.get()["code"].missing() ? 1 : 0;
  EXPECT_EQ(won, 1);
}

TEST(CommitCatalog, OnlyShard0HasTheConfigCollections) {
  ShardFixture shard({.shard = 1, .shards = 2});
  EXPECT_EQ(shard.CodeOfRun(Commit("[]", R"([{"c": 1, "_id": "a", "d": {"_id": "a"}}])")), 20);
}

}  // namespace
}  // namespace evenkeel::shard
