// What commands tell of their work: in replies and in the log.
#include "shard/command/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "tests/lib/shard/shard_fixture.h"

namespace evenkeel::shard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::Field;
using tests::ShardFixture;
using tests::TestCollection;

const TestCollection kCollection{.indexes = {R"({"key": {"a": 1, "b": -1}, "name": "a_1_b_-1"})"}};

TEST(Figures, PlansAreNamedAsInMongoDBsLog) {
  ShardFixture shard;
  shard.service().SetSlowMs(0);
  shard.Put(kCollection);
  shard.Insert(kCollection, {R"({"_id": 1, "a": 1})", R"({"_id": 2, "a": 2})"});
  const struct {
    std::string filter, plan, docs;
  } cases[] = {
      {R"({"c": 5})", "COLLSCAN", "2"},
      {R"({"a": 1})", "IXSCAN { a: 1, b: -1 }", "1"},
      {R"({"_id": 1})", "IDHACK", "1"},
      {R"({"a": {"$in": []}})", "EOF", "0"},
  };
  for (const auto& tried : cases) {
    SCOPED_TRACE(tried.filter);
    for (const auto& [command, field] :
         {std::pair{"find", "filter"}, std::pair{"count", "query"}}) {
      const bson::Document reply = shard.Run(
          kCollection.Command(command, "\"" + std::string(field) + "\": " + tried.filter));
      EXPECT_EQ(reply["$stats"].AsDocument()["plan"].AsString(), tried.plan);
      EXPECT_EQ(Field(reply, "$stats.docs"), tried.docs);
    }
  }
}

TEST(Figures, QuickCommandsAreQuiet) {
  ShardFixture shard;
  shard.service().SetSlowMs(1'000'000'000);
  shard.Put(kCollection);
  const uint64_t before = base::TotalLogLines();
  EXPECT_TRUE(shard.Run(kCollection.Command("find", ""))["$stats"].missing());
  EXPECT_EQ(base::TotalLogLines(), before);
}

TEST(Figures, SlowCommandsAreLogged) {
  ShardFixture shard;
  shard.service().SetSlowMs(0);
  shard.Put(kCollection);
  shard.Run(kCollection.Command("find", R"("filter": {"marker": 1})"));
  EXPECT_THAT(base::RecentLogLines().back(),
              AllOf(HasSubstr("slow operation"), HasSubstr("marker: 1"), HasSubstr("plan=COLLSCAN"),
                    HasSubstr("outcome=OK")));
  shard.Run(R"({"noSuchCommand": 1})");
  shard.Run(kCollection.Command("find", R"("filter": {"$wrong": 1})"));
  EXPECT_THAT(base::RecentLogLines().back(), HasSubstr("outcome=BadValue"));
}

}  // namespace
}  // namespace evenkeel::shard
