// Merging the streams of several shards.
#include "router/cursor/merge_cursor.h"

#include "base/status.h"
#include "router/query_context.h"
#include "tests/unit/router/harness_await.h"

namespace evenkeel::router {
namespace {

class MergeCursorTest : public AwaitTest {
 protected:
  MergeOptions Options() {
    MergeOptions options;
    options.ns = "db.c";
    options.context = MakeQueryContext(state(), TimesNow(state()), "db.c");
    return options;
  }

  // One stream per reply; the shards are 0, 1, 2 ….
  std::unique_ptr<MergeCursor> Make(MergeOptions options, std::vector<bson::Document> replies) {
    std::vector<ShardStream> streams;
    for (uint32_t i = 0; i < replies.size(); ++i) {
      const auto view = ReadCursor(replies[i]);
      EXPECT_TRUE(view.ok());
      ShardStream stream;
      stream.cursor = {ShardId{i}, view->id, "db.c"};
      stream.reply = MessageFrom(std::move(replies[i]));
      streams.push_back(std::move(stream));
    }
    auto cursor = MergeCursor::Make(state(), std::move(options), std::move(streams));
    EXPECT_TRUE(cursor.ok()) << cursor.status();
    return *std::move(cursor);
  }

  // The `a` fields of the next batch.
  std::vector<int> Next(MergeCursor& cursor, std::optional<int64_t> rows = std::nullopt) {
    BatchRequest request;
    request.rows = rows;
    request.id = CursorId{5};
    const auto reply = Await(cursor.Next(request, {}));
    EXPECT_TRUE(reply.ok()) << reply.status();
    std::vector<int> values;
    if (!reply.ok()) return values;
    const bson::View shown = reply->view()["cursor"].AsDocument();
    EXPECT_EQ(shown["id"].AsInt64(), cursor.exhausted() ? 0 : 5);
    for (const auto& [key, row] : shown["nextBatch"].AsDocument()) {
      EXPECT_FALSE(row.AsDocument().Contains("$sortKey"));
      values.push_back(row.AsDocument()["a"].AsInt32());
    }
    return values;
  }

  static query::SortPattern ByA() { return *query::SortPattern::Parse(Json(R"({"a": 1})")); }
};

TEST_F(MergeCursorTest, UnsortedStreamsComeInTurn) {
  const auto cursor = Make(Options(), {CursorReply(R"([{"a": 1}, {"a": 2}])"), CursorReply("[]"),
                                       CursorReply(R"([{"a": 3}])")});
  EXPECT_THAT(Next(*cursor), testing::UnorderedElementsAre(1, 2, 3));
  EXPECT_TRUE(cursor->exhausted());
}

TEST_F(MergeCursorTest, SortedStreamsAreMergedByTheirKeys) {
  MergeOptions options = Options();
  options.sort = ByA();
  const auto cursor = Make(
      std::move(options), {CursorReply(R"([{"a": 1, "$sortKey": [1]}, {"a": 5, "$sortKey": [5]}])"),
                           CursorReply(R"([{"a": 2, "$sortKey": [2]}, {"a": 4, "$sortKey": [4]}])"),
                           CursorReply(R"([{"a": 3, "$sortKey": [3]}])")});
  EXPECT_THAT(Next(*cursor, 2), testing::ElementsAre(1, 2));
  EXPECT_FALSE(cursor->exhausted());
  EXPECT_THAT(Next(*cursor), testing::ElementsAre(3, 4, 5));
  EXPECT_TRUE(cursor->exhausted());
}

TEST_F(MergeCursorTest, ASortedMergeWaitsForEveryStream) {
  MergeOptions options = Options();
  options.sort = ByA();
  const auto cursor = Make(std::move(options), {CursorReply(R"([{"a": 1, "$sortKey": [1]}])", 11),
                                                CursorReply(R"([{"a": 9, "$sortKey": [9]}])")});
  shard(0).Next("getMore", CursorReply("[]", 11, false));
  shard(0).Next("getMore", CursorReply(R"([{"a": 3, "$sortKey": [3]}])", 0, false));
  EXPECT_THAT(Next(*cursor), testing::ElementsAre(1, 3, 9));
  const auto asked = shard(0).RequestsOf("getMore");
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0]["getMore"].AsInt64(), 11);
  EXPECT_EQ(asked[0]["collection"].AsString(), "c");
  EXPECT_EQ(asked[0]["$db"].AsString(), "db");
}

TEST_F(MergeCursorTest, RowsOfAnUsedUpBatchStayValidWhileTheMergeHoldsThem) {
  MergeOptions options = Options();
  options.sort = ByA();
  // The first stream's rows are taken out by the merge at once; its next batch comes while they
  // wait for the second stream.
  const auto cursor =
      Make(std::move(options),
           {CursorReply(R"([{"a": 10, "$sortKey": [10]}, {"a": 12, "$sortKey": [12]}])", 1),
            CursorReply(R"([{"a": 1, "$sortKey": [1]}])", 2)});
  shard(0).Next("getMore", CursorReply(R"([{"a": 20, "$sortKey": [20]}])", 0, false));
  shard(1).Next("getMore", CursorReply(R"([{"a": 11, "$sortKey": [11]}])", 0, false));
  EXPECT_THAT(Next(*cursor), testing::ElementsAre(1, 10, 11, 12, 20));
}

TEST_F(MergeCursorTest, SkipAndLimitAreCountedHere) {
  MergeOptions options = Options();
  options.sort = ByA();
  options.skip = 1;
  options.limit = 2;
  const auto cursor =
      Make(std::move(options),
           {CursorReply(R"([{"a": 1, "$sortKey": [1]}, {"a": 3, "$sortKey": [3]}])", 8),
            CursorReply(R"([{"a": 2, "$sortKey": [2]}, {"a": 4, "$sortKey": [4]}])")});
  shard(0).On("killCursors", "{}");
  EXPECT_THAT(Next(*cursor), testing::ElementsAre(2, 3));
  EXPECT_TRUE(cursor->exhausted());
  EXPECT_EQ(shard(0).RequestsOf("killCursors").size(), 1u) << "nothing more is needed of it";
}

TEST_F(MergeCursorTest, AFailedShardEndsTheCursor) {
  const auto cursor = Make(Options(), {CursorReply("[]", 1), CursorReply("[]", 2)});
  shard(0).Next("getMore", StaleReply());
  shard(1).Next("getMore", CursorReply("[]", 2, false));
  shard(1).On("killCursors", "{}");
  const auto reply = Await(cursor->Next({}, {}));
  EXPECT_EQ(CodeOf(reply.status()), ErrorCode::kQueryPlanKilled);
  AwaitVoid(cursor->Close());
  EXPECT_EQ(shard(0).RequestsOf("killCursors").size(), 0u);
  EXPECT_EQ(shard(1).RequestsOf("killCursors").size(), 1u);
}

TEST_F(MergeCursorTest, ABatchSizeOfZeroReadsNothing) {
  const auto cursor = Make(Options(), {CursorReply("[]", 1)});
  EXPECT_TRUE(Next(*cursor, 0).empty());
  EXPECT_FALSE(cursor->exhausted());
  EXPECT_TRUE(shard(0).requests().empty());
}

TEST_F(MergeCursorTest, NextBatchesAreAskedForWhileTheClientWorks) {
  const auto cursor =
      Make(Options(), {CursorReply(R"([{"a": 1}])", 1), CursorReply(R"([{"a": 2}])")});
  shard(0).Next("getMore", CursorReply(R"([{"a": 3}])", 0, false));
  EXPECT_THAT(Next(*cursor, 2), testing::ElementsAre(1, 2));
  EXPECT_FALSE(cursor->exhausted());
  Poll();
  EXPECT_EQ(CountsOf("getMore"), (std::vector<size_t>{1, 0, 0}));
  EXPECT_GT(state().prefetched_bytes.load(), 0);
  EXPECT_THAT(Next(*cursor, 2), testing::ElementsAre(3));
  EXPECT_TRUE(cursor->exhausted());
  EXPECT_EQ(CountsOf("getMore"), (std::vector<size_t>{1, 0, 0}));
  EXPECT_EQ(state().prefetched_bytes.load(), 0);
}

TEST_F(MergeCursorTest, ACursorIsClosedWhenItsPrefetchIsBack) {
  const auto cursor = Make(Options(), {CursorReply(R"([{"a": 1}])", 1)});
  shard(0).Next("getMore", CursorReply(R"([{"a": 3}])", 1, false));
  shard(0).On("killCursors", "{}");
  EXPECT_THAT(Next(*cursor, 1), testing::ElementsAre(1));
  AwaitVoid(cursor->Close());
  EXPECT_EQ(CountsOf("killCursors"), (std::vector<size_t>{1, 0, 0}));
  EXPECT_EQ(state().prefetched_bytes.load(), 0);
}

TEST_F(MergeCursorTest, NothingIsPrefetchedPastTheBound) {
  state().prefetched_bytes = int64_t{1} << 40;
  const auto cursor = Make(Options(), {CursorReply(R"([{"a": 1}])", 1)});
  EXPECT_THAT(Next(*cursor, 1), testing::ElementsAre(1));
  Poll();
  EXPECT_TRUE(shard(0).requests().empty());
}

TEST_F(MergeCursorTest, AMergingPipelineTakesAllItsInput) {
  MergeOptions options = Options();
  auto pipeline = query::Pipeline::Parse(
      Json(R"({"p": [{"$match": {"a": {"$gt": 1}}}, {"$project": {"a": 1}}]})")["p"].AsDocument(),
      *options.context);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  options.pipeline = *std::move(pipeline);
  const auto cursor = Make(std::move(options), {CursorReply(R"([{"a": 1}, {"a": 2}])", 3)});
  shard(0).Next("getMore", CursorReply(R"([{"a": 0}, {"a": 7}])", 0, false));
  EXPECT_THAT(Next(*cursor, 10), testing::ElementsAre(2, 7));
  EXPECT_FALSE(shard(0).RequestsOf("getMore")[0].view().Contains("batchSize"));
}

}  // namespace
}  // namespace evenkeel::router
