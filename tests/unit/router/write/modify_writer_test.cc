// Single statements as they are sent to shards.
#include "tests/unit/router/harness.h"

namespace evenkeel::router::write {
namespace {

// What commands make of it is in update_test.cc; here what is the writer's own.
class ModifyWriterTest : public RouterTest {};

TEST_F(ModifyWriterTest, AStatementKeepsItsOtherFieldsWhenItIsSentWithoutUpsert) {
  AddSharded("db.s", R"({"k": "hashed"})");
  for (uint32_t i = 0; i < 3; ++i) shard(i).On("update", R"({"n": 1, "nModified": 1})");
  const bson::Document reply = Run(
      R"({"update": "s", "let": {"v": 1}, "updates": [{"q": {"x": 1}, "u": {"$set": {"a.$[e]": 1}},
              "arrayFilters": [{"e": 2}], "multi": true, "upsert": true, "hint": "i"}]})");
  EXPECT_EQ(Fields(reply), R"({"n":3,"nModified":3})");
  const bson::Document sent = shard(0).RequestsOf("update")[0];
  EXPECT_EQ(bson::ToJson(sent["updates"].AsDocument()["0"].AsDocument()),
            R"({"q":{"x":1},"u":{"$set":{"a.$[e]":1}},"arrayFilters":[{"e":2}],"multi":true,)"
            R"("hint":"i"})");
  EXPECT_EQ(bson::ToJson(sent["let"].AsDocument()), R"({"v":1})");
}

}  // namespace
}  // namespace evenkeel::router::write
