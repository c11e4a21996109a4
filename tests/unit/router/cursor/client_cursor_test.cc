// Batches of rows and replies passed on.
#include "router/cursor/client_cursor.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/status.h"
#include "tests/unit/router/fake_shard.h"

namespace evenkeel::router {
namespace {

TEST(BatchBuilderTest, StopsAtTheRowsAskedFor) {
  BatchRequest request;
  request.rows = 2;
  request.first = true;
  request.id = CursorId{9};
  BatchBuilder batch(request);
  EXPECT_TRUE(batch.Add(Json(R"({"a": 1})")));
  EXPECT_FALSE(batch.full());
  EXPECT_TRUE(batch.Add(Json(R"({"a": 2})")));
  EXPECT_TRUE(batch.full());
  EXPECT_EQ(bson::ToJson(batch.Finish(false, "db.c")),
            R"({"cursor":{"firstBatch":[{"a":1},{"a":2}],"id":9,"ns":"db.c"}})");
}

TEST(BatchBuilderTest, StopsAtSixteenMegabytesButTakesOneRow) {
  bson::Builder row;
  row.AppendBinary("b", 0, std::string(limits::kDocumentBytesMax - 100, 'x'));
  const bson::Document large = row.Finish();
  BatchBuilder batch({});
  EXPECT_TRUE(batch.Add(large));
  EXPECT_FALSE(batch.Add(large));
  const bson::Document reply = batch.Finish(true, "db.c");
  EXPECT_EQ(reply["cursor"].AsDocument()["nextBatch"].AsDocument().CountFields(), 1u);
  EXPECT_EQ(reply["cursor"].AsDocument()["id"].AsInt64(), 0);
}

TEST(PassedOnReplyTest, ReplacesTheIdInPlace) {
  const auto goes_on = PassedOnReply(
      Json(R"({"cursor": {"firstBatch": [{"id": 5}], "id": {"$numberLong": "77"}, "ns": "db.c"},
               "other": 1})"),
      CursorId{123});
  EXPECT_EQ(bson::ToJson(*goes_on), R"({"cursor":{"firstBatch":[{"id":5}],"id":123,"ns":"db.c"}})");
  const auto ended = PassedOnReply(
      Json(R"({"cursor": {"nextBatch": [], "id": {"$numberLong": "0"}, "ns": "db.c"}})"),
      CursorId{123});
  EXPECT_EQ(ended->view()["cursor"].AsDocument()["id"].AsInt64(), 0);
}

TEST(ReadCursorTest, RefusesReplies) {
  for (const std::string_view bad :
       {R"({})", R"({"cursor": 1})", R"({"cursor": {"firstBatch": []}})",
        R"({"cursor": {"id": {"$numberLong": "1"}}})"}) {
    EXPECT_EQ(CodeOf(ReadCursor(Json(bad)).status()), ErrorCode::kInternalError) << bad;
  }
}

}  // namespace
}  // namespace evenkeel::router
