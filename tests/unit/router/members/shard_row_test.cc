// Rows of config.shards.
#include "router/members/shard_row.h"

#include <gtest/gtest.h>

#include "base/bson/json.h"

namespace evenkeel::router {
namespace {

bson::Document Row(std::string_view json) {
  auto document = bson::FromJson(std::string(json));
  EXPECT_TRUE(document.ok());
  return *std::move(document);
}

TEST(ShardRow, NamesAreNumbers) {
  EXPECT_EQ(ShardName(ShardId{12}), "shard12");
  EXPECT_EQ(ShardNamed("shard12"), ShardId{12});
  for (const char* bad :
       {"", "shard", "shard01", "shard-1", "shard1x", "Shard1", "shard99999999999"})
    EXPECT_EQ(ShardNamed(bad), std::nullopt) << bad;
}

TEST(ShardRow, ANewOneIsReadBack) {
  const auto row = ShardRow::FromBson(NewShardRow(ShardId{3}, "h:1", Timestamp{}).view());
  ASSERT_TRUE(row);
  EXPECT_EQ(row->shard, ShardId{3});
  EXPECT_EQ(row->host, "h:1");
  EXPECT_FALSE(row->draining);
  EXPECT_EQ(row->version, 1);
}

TEST(ShardRow, ChangesMoveTheVersionAndKeepTheRest) {
  bson::Document row = Row(R"({"_id": "shard1", "host": "shard1/h:1", "tags": ["x"]})");
  row = WithDraining(row.view(), true);
  EXPECT_TRUE(ShardRow::FromBson(row.view())->draining);
  EXPECT_EQ(ShardRow::FromBson(row.view())->version, 1);
  row = WithHost(row.view(), "other:2");
  row = WithDraining(row.view(), false);
  const auto read = ShardRow::FromBson(row.view());
  EXPECT_EQ(read->host, "other:2");
  EXPECT_EQ(row["host"].AsString(), "shard1/other:2");
  EXPECT_FALSE(row.view().Contains("draining"));
  EXPECT_EQ(read->version, 3);
  EXPECT_EQ(row["tags"].AsDocument().CountFields(), 1u);
}

TEST(ShardRow, WhatCannotBeUsedIsNone) {
  for (const char* bad :
       {R"({})", R"({"_id": 1, "host": "h:1"})", R"({"_id": "rs0", "host": "h:1"})",
        R"({"_id": "shard1"})", R"({"_id": "shard1", "host": "shard1/h"})"}) {
    EXPECT_FALSE(ShardRow::FromBson(Row(bad).view())) << bad;
  }
}

}  // namespace
}  // namespace evenkeel::router
