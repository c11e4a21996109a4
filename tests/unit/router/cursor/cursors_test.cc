// Cursors from a first reply to their end.
#include "router/cursor/cursors.h"

#include "router/cursor/documents_cursor.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class CursorsTest : public AwaitTest {
 protected:
  CommandResult Reply(size_t rows, std::optional<int64_t> batch_size) {
    const auto request = wire::ParseRequest(
        MessageFrom(Json(R"({"listCollections": 1, "$db": "db"})")), wall().Now());
    CommandContext context{state(), *request, client(), {}, {}};
    std::vector<bson::Document> all;
    for (size_t i = 0; i < rows; ++i) all.push_back(Json("{\"i\": " + std::to_string(i) + "}"));
    return Await(ReplyWithRows(context, "db.$cmd.x", std::move(all), batch_size));
  }
};

TEST_F(CursorsTest, WhatFitsNeedsNoCursor) {
  const CommandResult reply = Reply(2, std::nullopt);
  EXPECT_EQ(bson::ToJson(*reply),
            R"({"cursor":{"firstBatch":[{"i":0},{"i":1}],"id":0,"ns":"db.$cmd.x"}})");
  EXPECT_EQ(OpenCursors(), 0u);
}

TEST_F(CursorsTest, TheRestIsKeptForGetMore) {
  const CommandResult reply = Reply(3, 2);
  const int64_t id = reply->view()["cursor"].AsDocument()["id"].AsInt64();
  ASSERT_NE(id, 0);
  const bson::Document next = Run("{\"getMore\": {\"$numberLong\": \"" + std::to_string(id) +
                                  "\"}, \"collection\": \"$cmd.x\"}");
  EXPECT_EQ(Fields(next), R"({"cursor":{"nextBatch":[{"i":2}],"id":0,"ns":"db.$cmd.x"}})");
  EXPECT_EQ(OpenCursors(), 0u);
}

TEST_F(CursorsTest, AnEmptyReply) {
  EXPECT_EQ(bson::ToJson(EmptyCursorReply("db.c")),
            R"({"cursor":{"firstBatch":[],"id":0,"ns":"db.c"}})");
}

}  // namespace
}  // namespace evenkeel::router
