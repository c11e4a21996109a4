// Adding up and showing figures.
#include "router/stats/figures.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/unit/router/fake_shard.h"

namespace evenkeel::router::stats {
namespace {

TEST(FiguresTest, AddUp) {
  ShardFigures a, b;
  a.figures = {1, 10, 20, 5, {{"_id_", 5}}};
  b.figures = {2, 20, 40, 7, {{"_id_", 3}, {"x_1", 4}}};
  const Figures sum = Sum({a, b});
  EXPECT_EQ(sum.count, 3);
  EXPECT_EQ(sum.index_sizes.at("_id_"), 8);
  bson::Builder reply;
  AppendFigures(reply, sum, 1);
  EXPECT_EQ(bson::ToJson(reply.Finish()),
            R"({"size":30,"count":3,"avgObjSize":10,"numOrphanDocs":0,"storageSize":60,)"
            R"("totalIndexSize":12,"totalSize":72,"indexSizes":{"_id_":8,"x_1":4},"nindexes":2,)"
            R"("scaleFactor":1})");
}

TEST(FiguresTest, Scales) {
  const bson::Document given = Json(R"({"good": 1024, "zero": 0, "text": "x", "null": null})");
  EXPECT_EQ(*ScaleOf(given["good"]), 1024);
  EXPECT_EQ(*ScaleOf(given["null"]), 1);
  EXPECT_EQ(*ScaleOf({}), 1);
  EXPECT_EQ(CodeOf(ScaleOf(given["zero"]).status()), ErrorCode::kBadValue);
  EXPECT_EQ(CodeOf(ScaleOf(given["text"]).status()), ErrorCode::kTypeMismatch);
}

}  // namespace
}  // namespace evenkeel::router::stats
