// Tests of queries that were begun before ranges have moved: they go on reading what has left,
// which stays for them, though not for ever.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "shard/command/read_cursor.h"
#include "tests/unit/shard/command/orphans_cases.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::HashedId;
using tests::Json;

class OrphansBesideQueries : public OrphansCase {};

INSTANTIATE_TEST_SUITE_P(Placed, OrphansBesideQueries, testing::Bool(),
                         [](const auto& by) { return by.param ? "ByBucket" : "ByHash"; });

TEST_P(OrphansBesideQueries, StayForQueriesThatWereBegunBefore) {
  const int64_t cursor = OpenFind();
  Move();
  EXPECT_EQ(Left(), kGiven);
  EXPECT_EQ(More(cursor, 10), 10);
  EXPECT_EQ(Left(), kGiven);
  EXPECT_EQ(More(cursor, 1000), kAll - 12) << "every document once";
  const int64_t newer = OpenFind();
  EXPECT_EQ(Left(), 0) << "newer cursors do not read them";
  EXPECT_EQ(More(newer, 1000), kKept - 2);
}

TEST_P(OrphansBesideQueries, StayForFifteenMinutesAtMost) {
  const int64_t cursor = OpenFind();
  Move();
  for (int minutes = 0; minutes <= 15; minutes += 5) {
    EXPECT_EQ(Left(), kGiven) << minutes;
    EXPECT_EQ(More(cursor, 1), 1) << "it is used";
    move_.shard(0).wall.Advance(absl::Minutes(5));
  }
  EXPECT_EQ(Left(), 0);
  EXPECT_EQ(More(cursor, 1), -175);
  EXPECT_EQ(More(cursor, 1), -43) << "it is gone";
}

// What has no cursor id yet counts too, and what an operator reads by itself.
TEST_P(OrphansBesideQueries, StayForQueriesBeforeTheirFirstAnswer) {
  std::unique_ptr<ReadCursor> running;
  move_.shard(0).RunOnLoop([&]() -> Awaitable<void> {
    const wire::Message message = wire::MakeMessage(Json(move_.now().Command("count", "")));
    const CommandContext context{move_.shard(0).service(), message, absl::InfiniteFuture(), {}};
    const auto collection =
        OpenCollection(*context.service.catalog(), *wire::ParseEnvelope(context.body()));
    running = *ReadCursor::Open(
        context, *collection, {.command = std::make_shared<const bson::Document>(context.body())});
    co_return;
  });
  Move();
  EXPECT_EQ(Left(), kGiven);
  running = nullptr;
  EXPECT_EQ(Left(), 0);
}

TEST_P(OrphansBesideQueries, StayForLookupsThatWereBegunBefore) {
  tests::TestCollection outer{.id = 2000, .ns = "db.outer"};
  move_.shard(0).Put(outer);
  std::vector<std::string> rows;
  for (size_t i = 0; i < kEnd; ++i) rows.push_back(bson::ToJson(kIds[i].document));
  move_.shard(0).Insert(outer, rows);
  const std::string foreign =
      R"("f": [{"n": "db.c", "c": {"$numberLong": "1000"}, "v": {"$numberLong": "1"}}])";
  const bson::Document first = move_.shard(0).Run(
      R"({"aggregate": "outer", "cursor": {"batchSize": 2}, "pipeline": [{"$lookup": {"from": "c",
          "localField": "_id", "foreignField": "_id", "as": "c"}}, {"$match": {"c.b": 1}}], )" +
      outer.Shard(foreign) + "}");
  ASSERT_EQ(Field(first, "code"), "missing") << bson::ToJson(first);
  const int64_t cursor = first["cursor"].AsDocument()["id"].AsInt64();
  Move();
  EXPECT_EQ(Left(), kGiven);
  EXPECT_EQ(More(cursor, 1000), kAll - 2);
  EXPECT_EQ(Left(), 0);
}

TEST_P(OrphansBesideQueries, QueriesThatCouldReadThemEndWithThem) {
  std::vector<int64_t> old;
  for (const char* rest :
       {R"("batchSize": 2)", R"("batchSize": 2, "filter": {"b": 1}, "hint": "b_1")",
        R"("batchSize": 2, "sort": {"_id": -1})", R"("batchSize": 2, "filter": {"t": ""})"}) {
    old.push_back(Open("find", rest));
  }
  old.push_back(Open("aggregate", R"("cursor": {"batchSize": 0},
                                     "pipeline": [{"$group": {"_id": "$t"}}])"));
  Move();
  const int64_t newer = OpenFind();
  EXPECT_EQ(move_.RemoveOrphans(0), kGiven);
  for (size_t i = 0; i < old.size(); ++i) EXPECT_EQ(More(old[i], 2), -175) << i;
  EXPECT_EQ(More(newer, 2), 2);
}

// What a move has brought in vain was never theirs.
TEST_P(OrphansBesideQueries, OfAMoveThatIsGivenUpHoldNobody) {
  const int64_t before = OpenFind(1);
  move_.Begin();
  const int64_t meanwhile = OpenFind(1);
  move_.Copy();
  move_.GiveUp();
  const int64_t behind = OpenFind(1);
  ASSERT_EQ(move_.Foreign(1).documents, kGiven);
  EXPECT_EQ(Left(1), 0) << "nobody waits for them";
  for (const int64_t cursor : {before, meanwhile, behind}) EXPECT_EQ(More(cursor, 2, 1), 2);
}

TEST_P(OrphansBesideQueries, QueriesByTheNewRangesGoOn) {
  Move();
  const int64_t cursor = OpenFind();
  move_.Put();
  EXPECT_EQ(move_.RemoveOrphans(0), kGiven);
  EXPECT_EQ(More(cursor, 1000), kKept - 2);
}

}  // namespace
}  // namespace evenkeel::shard
