// Tests of _listCatalog: rows, figures, pages.
#include "shard/command/list_catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kCollection{.indexes = {R"({"key": {"a": 1}, "name": "a_1"})"}};

TEST(ListCatalog, RowsOfTheShard) {
  ShardFixture shard;
  shard.Put(kCollection);
  shard.Insert(kCollection, {R"({"_id": 1})", R"({"_id": 2})"});
  const bson::Document reply = shard.Run(R"({"_listCatalog": 1})");
  EXPECT_FALSE(reply["more"].AsBool());
  EXPECT_EQ(Field(reply, "assignments.0._id"), "\"default\"");
  bson::View row;
  for (const auto& [key, value] : reply["collections"].AsDocument()) row = value.AsDocument();
  EXPECT_EQ(row["documents"].AsInt64(), 2);
  EXPECT_EQ(row["orphans"].AsInt64(), 0);
  EXPECT_EQ(row["entry"].AsDocument()["indexes"].AsDocument().CountFields(), 2u);
}

TEST(ListCatalog, BehindAnIdInTheirOrder) {
  ShardFixture shard;
  shard.Put(kCollection);
  const auto ids = [&](const std::string& after) {
    std::vector<int64_t> found;
    const bson::Document reply = shard.Run(R"({"_listCatalog": 1)" + after + "}");
    EXPECT_EQ(reply.view().Contains("assignments"), after.empty());
    for (const auto& [key, value] : reply["collections"].AsDocument()) {
      found.push_back(bson::ToInt64Truncated(value.AsDocument()["entry"].AsDocument()["id"]));
    }
    return found;
  };
  const std::vector<int64_t> all = ids("");
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_TRUE(ids(R"(, "after": )" + std::to_string(all.back())).empty());
}

}  // namespace
}  // namespace evenkeel::shard
