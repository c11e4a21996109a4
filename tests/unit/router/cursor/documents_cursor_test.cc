// A cursor over documents in memory.
#include "router/cursor/documents_cursor.h"

#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class DocumentsCursorTest : public AwaitTest {};

TEST_F(DocumentsCursorTest, GivesItsRowsInBatches) {
  std::vector<bson::Document> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(Json("{\"i\": " + std::to_string(i) + "}"));
  DocumentsCursor cursor("db.c", std::move(rows));
  BatchRequest request;
  request.rows = 2;
  request.id = CursorId{4};
  EXPECT_EQ(bson::ToJson(*Await(cursor.Next(request, {}))),
            R"({"cursor":{"nextBatch":[{"i":0},{"i":1}],"id":4,"ns":"db.c"}})");
  EXPECT_FALSE(cursor.exhausted());
  EXPECT_EQ(bson::ToJson(*Await(cursor.Next(request, {}))),
            R"({"cursor":{"nextBatch":[{"i":2}],"id":0,"ns":"db.c"}})");
  EXPECT_TRUE(cursor.exhausted());
}

}  // namespace
}  // namespace evenkeel::router
