// listDatabases, listCollections, listIndexes.
#include <gmock/gmock.h>

#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

class ListingsTest : public RouterTest {
 protected:
  ListingsTest() {
    AddUnsharded("db.u", ShardId{1}, R"({"capped": true, "size": 4096})");
    AddSharded("db.s", R"({"k": "hashed"})");
    AddView("db.v", "u", "[]");
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On(
          "_collStats",
          R"({"count": 1, "size": 10, "storageSize": 20, "totalIndexSize": 5, "indexSizes": {}})");
    }
  }
  std::vector<std::string> Names(const bson::Document& reply) {
    std::vector<std::string> names;
    for (const auto& [key, row] : reply["cursor"].AsDocument()["firstBatch"].AsDocument()) {
      names.emplace_back(row.AsDocument()["name"].AsString());
    }
    return names;
  }
};

TEST_F(ListingsTest, CollectionsWithTheirOptions) {
  const bson::Document reply = Run(R"({"listCollections": 1})");
  EXPECT_THAT(Names(reply), testing::ElementsAre("s", "u", "v"));
  EXPECT_EQ(reply["cursor"].AsDocument()["ns"].AsString(), "db.$cmd.listCollections");
  const bson::View rows = reply["cursor"].AsDocument()["firstBatch"].AsDocument();
  const bson::View u = rows["1"].AsDocument(), v = rows["2"].AsDocument();
  EXPECT_EQ(u["type"].AsString(), "collection");
  EXPECT_TRUE(u["options"].AsDocument()["capped"].AsBool());
  EXPECT_EQ(u["info"].AsDocument()["uuid"].AsBinary().bytes.size(), 16u);
  EXPECT_EQ(u["idIndex"].AsDocument()["name"].AsString(), "_id_");
  EXPECT_EQ(v["type"].AsString(), "view");
  EXPECT_TRUE(v["info"].AsDocument()["readOnly"].AsBool());
}

TEST_F(ListingsTest, FilterNameOnlyAndBatchSize) {
  const bson::Document reply =
      Run(R"({"listCollections": 1, "nameOnly": true, "filter": {"type": "view"}})");
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"name":"v","type":"view"}],"id":0,)"
                           R"("ns":"db.$cmd.listCollections"}})");
  EXPECT_THAT(
      Names(Run(R"({"listCollections": 1, "filter": {"options.capped": true}, "nameOnly": true})")),
      testing::ElementsAre("u"));
  EXPECT_NE(Run(R"({"listCollections": 1, "cursor": {"batchSize": 1}})")["cursor"]
                .AsDocument()["id"]
                .AsInt64(),
            0);
  EXPECT_EQ(CodeOfReply(Run(R"({"listCollections": 1, "cursor": {"batchSize": -1}})")), 51024);
}

struct BadCase {
  std::string_view command;
  int code;
};

TEST_F(ListingsTest, BadFields) {
  const BadCase cases[] = {
      {R"({"listCollections": 1, "nameOnly": 1})", 14},
      {R"({"listCollections": 1, "filter": 1})", 14},
      {R"({"listCollections": 1, "unknown": 1})", 40415},
      {R"({"listCollections": 1, "cursor": {"unknown": 1}})", 40415},
      {R"({"listDatabases": 1, "nameOnly": "true", "$db": "admin"})", 14},
      {R"({"listDatabases": 1, "authorizedDatabases": 1, "$db": "admin"})", 14},
      {R"({"listIndexes": "u", "unknown": 1})", 40415},
      {R"({"listIndexes": 1})", 73},
  };
  for (const BadCase& c : cases) EXPECT_EQ(CodeOfReply(Run(c.command)), c.code) << c.command;
}

TEST_F(ListingsTest, TheConfigDatabaseHasItsCollections) {
  EXPECT_THAT(Names(Run(R"({"listCollections": 1, "nameOnly": true, "$db": "config"})")),
              testing::IsSupersetOf({"chunks", "collections", "databases", "settings", "shards"}));
}

TEST_F(ListingsTest, Databases) {
  const bson::Document reply = Run(R"({"listDatabases": 1, "$db": "admin"})");
  const bson::View db = reply["databases"].AsDocument()["2"].AsDocument();
  EXPECT_EQ(db["name"].AsString(), "db");
  EXPECT_EQ(db["sizeOnDisk"].AsInt64(), 100);
  EXPECT_FALSE(db["empty"].AsBool());
  EXPECT_EQ(reply["totalSize"].AsInt64(), 100);
  EXPECT_EQ(
      Fields(Run(
          R"({"listDatabases": 1, "nameOnly": true, "filter": {"name": "db"}, "$db": "admin"})")),
      R"({"databases":[{"name":"db"}]})");
}

TEST_F(ListingsTest, Indexes) {
  EXPECT_EQ(
      Fields(Run(R"({"listIndexes": "u"})")),
      R"({"cursor":{"firstBatch":[{"v":2,"key":{"_id":1},"name":"_id_"}],"id":0,"ns":"db.u"}})");
  EXPECT_EQ(CodeOfReply(Run(R"({"listIndexes": "absent"})")), 26);
  EXPECT_EQ(CodeOfReply(Run(R"({"listIndexes": "v"})")), 166);
}

}  // namespace
}  // namespace evenkeel::router
