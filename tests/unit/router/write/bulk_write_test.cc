// bulkWrite: which commands it becomes, and how their replies become one.
#include "base/status.h"
#include "tests/unit/router/harness.h"

namespace evenkeel::router {
namespace {

constexpr std::string_view kInfo = R"("nsInfo": [{"ns": "db.u"}, {"ns": "db.s"}])";

class BulkWriteTest : public RouterTest {
 protected:
  BulkWriteTest() {
    AddUnsharded("db.u", ShardId{1});
    AddSharded("db.s", R"({"_id": "hashed"})");
    for (uint32_t i = 0; i < 3; ++i) {
      shard(i).On("insert", [](bson::View request) {
        bson::Builder reply;
        reply.Append("n", static_cast<int32_t>(request["documents"].AsDocument().CountFields()));
        return reply.Finish();
      });
      shard(i).On("update", R"({"n": 1, "nModified": 1})");
      shard(i).On("delete", R"({"n": 1})");
      shard(i).On("_waitDurable", "{}");
    }
  }

  bson::Document Bulk(std::string_view operations, std::string_view more = "") {
    return Run("{\"bulkWrite\": 1, " + std::string(kInfo) + ", \"ops\": " +
               std::string(operations) + std::string(more) + ", \"$db\": \"admin\"}");
  }
  static std::string Counts(const bson::Document& reply) {
    std::string out;
    for (const std::string_view name :
         {"nErrors", "nInserted", "nMatched", "nModified", "nUpserted", "nDeleted"}) {
      out += std::to_string(reply[name].AsInt32()) + " ";
    }
    return out;
  }
  static std::string Rows(const bson::Document& reply) {
    bson::Builder out;
    out.Append("rows", reply["cursor"].AsDocument()["firstBatch"]);
    return Fields(out.Finish());
  }
};

TEST_F(BulkWriteTest, NeighbouringInsertsGoTogetherOthersAlone) {
  const bson::Document reply = Bulk(R"([{"insert": 0, "document": {"_id": 1}},
      {"insert": 0, "document": {"_id": 2}},
      {"update": 0, "filter": {"_id": 1}, "updateMods": {"$set": {"a": 1}}},
      {"delete": 0, "filter": {"_id": 2}}, {"insert": 1, "document": {"_id": 3}}])");
  EXPECT_EQ(Counts(reply), "0 3 1 1 0 1 ");
  EXPECT_EQ(shard(1).RequestsOf("insert")[0]["documents"].AsDocument().CountFields(), 2u);
  EXPECT_EQ(shard(1).RequestsOf("update").size(), 1u);
  EXPECT_EQ(shard(1).RequestsOf("delete").size(), 1u);
  EXPECT_EQ(Rows(reply), R"({"rows":[{"ok":1.0,"idx":0,"n":1},{"ok":1.0,"idx":1,"n":1},)"
                         R"({"ok":1.0,"idx":2,"n":1,"nModified":1},{"ok":1.0,"idx":3,"n":1},)"
                         R"({"ok":1.0,"idx":4,"n":1}]})");
}

constexpr std::string_view kThreeInserts = R"([{"insert": 0, "document": {"_id": 1}},
    {"insert": 0, "document": {"_id": 2}}, {"insert": 0, "document": {"_id": 3}},
    {"delete": 0, "filter": {"_id": 9}}])";
constexpr std::string_view kSecondFails =
    R"({"n": 1, "writeErrors": [{"index": 1, "code": 11000, "errmsg": "E11000"}]})";

TEST_F(BulkWriteTest, AnOrderedOneEndsAtTheFirstError) {
  shard(1).Next("insert", kSecondFails);
  const bson::Document reply = Bulk(kThreeInserts);
  EXPECT_EQ(Counts(reply), "1 1 0 0 0 0 ");
  EXPECT_EQ(Rows(reply), R"({"rows":[{"ok":1.0,"idx":0,"n":1},)"
                         R"({"ok":0.0,"idx":1,"code":11000,"errmsg":"E11000","n":0}]})");
  EXPECT_TRUE(shard(1).RequestsOf("delete").empty());
}

TEST_F(BulkWriteTest, AnUnorderedOneGoesOn) {
  shard(1).Next("insert",
                R"({"n": 2, "writeErrors": [{"index": 1, "code": 11000, "errmsg": ""}]})");
  const bson::Document reply = Bulk(kThreeInserts, R"(, "ordered": false, "errorsOnly": true)");
  EXPECT_EQ(Counts(reply), "1 2 0 0 0 1 ");
  EXPECT_EQ(Rows(reply), R"({"rows":[{"ok":0.0,"idx":1,"code":11000,"errmsg":"","n":0}]})");
}

TEST_F(BulkWriteTest, UpsertsAreNotMatches) {
  shard(1).Next("update", R"({"n": 1, "nModified": 0, "upserted": [{"index": 0, "_id": 7}]})");
  const bson::Document reply =
      Bulk(R"([{"update": 0, "filter": {"_id": 7}, "updateMods": {"a": 1}, "upsert": true}])");
  EXPECT_EQ(Counts(reply), "0 0 0 0 1 0 ");
  EXPECT_EQ(Rows(reply), R"({"rows":[{"ok":1.0,"idx":0,"n":1,"nModified":0,)"
                         R"("upserted":{"index":0,"_id":7}}]})");
}

TEST_F(BulkWriteTest, StatementsOfARetryableOneKeepTheirIds) {
  (void)Bulk(R"([{"delete": 0, "filter": {"_id": 1}}, {"insert": 0, "document": {"_id": 2}}])",
             ", " + std::string(kRetryable));
  const std::vector<bson::Document> inserts = shard(1).RequestsOf("insert");
  bson::Builder shown;
  shown.Append("envelope", inserts[0]["$shard"]);
  EXPECT_NE(Fields(shown.Finish()).find("[1]"), std::string::npos) << "the id of the second";
}

TEST_F(BulkWriteTest, BadRequests) {
  const struct {
    std::string_view operations, more;
    int code;
  } cases[] = {
      {"[]", "", 16},
      {"1", "", 14},
      {"[1]", "", 14},
      {R"([{"insert": 2, "document": {}}])", "", 2},
      {R"([{"insert": -1, "document": {}}])", "", 2},
      {R"([{"insert": "0", "document": {}}])", "", 14},
      {R"([{"insert": 0}])", "", 40414},
      {R"([{"insert": 0, "document": {}, "multi": true}])", "", 40415},
      {R"([{"replace": 0, "document": {}}])", "", 40415},
      {R"([{}])", "", 40415},
      {R"([{"update": 0, "filter": {}}])", "", 40414},
      {R"([{"update": 0, "filter": {}, "updateMods": 1}])", "", 9},
      {R"([{"update": 0, "filter": {}, "updateMods": {"a": 1}, "hint": 1}])", "", 9},
      {R"([{"delete": 0, "filter": []}])", "", 14},
      {R"([{"delete": 0, "filter": {}}])", R"(, "ordered": 1)", 14},
      {R"([{"delete": 0, "filter": {}}])", R"(, "cursor": {"batchSize": -1})", 51024},
      {R"([{"delete": 0, "filter": {}}])", R"(, "unknown": 1)", 40415},
  };
  for (const auto& [operations, more, code] : cases) {
    EXPECT_EQ(CodeOfReply(Bulk(operations, more)), code) << operations << more;
  }
  EXPECT_EQ(CountsOf("delete"), (std::vector<size_t>{0, 0, 0}));
  EXPECT_EQ(CodeOfReply(Bulk(R"([{"delete": 0, "filter": {}, "multi": true}])",
                             ", " + std::string(kRetryable))),
            72);
  EXPECT_EQ(CodeOfReply(Run(R"({"bulkWrite": 1, "$db": "admin", "nsInfo": [{"ns": "nodot"}],
                                "ops": [{"delete": 0, "filter": {}}]})")),
            73);
}

}  // namespace
}  // namespace evenkeel::router
