// Reading and changing documents of `config`.
#include "router/config_access.h"

#include "base/status.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class ConfigAccessTest : public AwaitTest {};

TEST_F(ConfigAccessTest, ReadsAllBatches) {
  shard(0).Next("find", CursorReply(R"([{"_id": 1}])", 8));
  shard(0).Next("getMore", CursorReply(R"([{"_id": 2}])", 8, false));
  shard(0).Next("getMore", CursorReply(R"([{"_id": 3}])", 0, false));
  const auto rows = Await(ReadConfig(state(), "settings", Json(R"({"a": 1})"), {}));
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->size(), 3u);
  const bson::Document asked = shard(0).RequestsOf("find")[0];
  EXPECT_EQ(bson::ToJson(asked["filter"].AsDocument()), R"({"a":1})");
}

TEST_F(ConfigAccessTest, AnUpsertReportsItsError) {
  shard(0).On("update",
              R"({"n": 0, "writeErrors": [{"index": 0, "code": 11000, "errmsg": "dup"}]})");
  const absl::Status status =
      Await(UpsertConfig(state(), "settings", ById("x"), Json(R"({"$set": {"a": 1}})"), {}));
  EXPECT_EQ(CodeOf(status), ErrorCode::kDuplicateKey);
}

TEST_F(ConfigAccessTest, Filters) {
  EXPECT_EQ(bson::ToJson(ById("x")), R"({"_id":"x"})");
  EXPECT_EQ(bson::ToJson(OfDatabase("db")), R"({"_id":{"$gte":"db.","$lt":"db/"}})");
}

}  // namespace
}  // namespace evenkeel::router
