// The getMore and killCursors commands' fields.
#include "query/request/cursor_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kGetMore[] = {
    {R"({"getMore": {"$numberLong": "5"}, "collection": "c"})"},
    {R"({"getMore": 5, "collection": "c"})", 14},
    {R"({"getMore": {"$numberLong": "5"}})", 40414},
    {R"({"getMore": {"$numberLong": "5"}, "collection": 1})", 14},
    {R"({"getMore": {"$numberLong": "5"}, "collection": ""})", 73},
    {R"({"getMore": {"$numberLong": "5"}, "collection": "c", "batchSize": -1})", 2},
    {R"({"getMore": {"$numberLong": "5"}, "collection": "c", "nope": -1})", 40415},
};

constexpr CommandCase kKillCursors[] = {
    {R"({"killCursors": "c", "cursors": [{"$numberLong": "5"}]})"},
    {R"({"killCursors": "c", "cursors": []})", 2},
    {R"({"killCursors": "c", "cursors": [5]})", 14},
    {R"({"killCursors": "c"})", 40414},
    {R"({"killCursors": 1, "cursors": [{"$numberLong": "5"}]})", 73},
};

TEST(CursorRequest, GetMore) { CheckCommands(ParseGetMore, kGetMore); }
TEST(CursorRequest, KillCursors) { CheckCommands(ParseKillCursors, kKillCursors); }

TEST(CursorRequest, Fields) {
  const bson::Document more =
      Json(R"({"getMore": {"$numberLong": "7"}, "collection": "c", "batchSize": 3})");
  EXPECT_EQ(ParseGetMore(more)->cursor.value, 7);
  EXPECT_EQ(ParseGetMore(more)->batch_size, 3);
  const bson::Document zero =
      Json(R"({"getMore": {"$numberLong": "7"}, "collection": "c", "batchSize": 0})");
  EXPECT_EQ(ParseGetMore(zero)->batch_size, std::nullopt);
}

}  // namespace
}  // namespace evenkeel::query
