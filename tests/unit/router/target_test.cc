// Which shards filters and documents go to.
#include "router/target.h"
#include "base/status.h"

#include <gtest/gtest.h>

#include "base/bson/hash.h"
#include "catalog/assignment.h"
#include "tests/unit/router/fake_shard.h"

namespace evenkeel::router {
namespace {

catalog::Route ShardedRoute(std::string_view key, std::string_view options = "{}") {
  auto entry = std::make_shared<catalog::CollectionEntry>();
  entry->ns = "db.c";
  auto pattern = catalog::ShardKeyPattern::Parse(Json(key));
  EXPECT_TRUE(pattern.ok()) << pattern.status();
  entry->shard_key = *std::move(pattern);
  entry->options = Json(options);
  catalog::Route route;
  route.entry = std::move(entry);
  route.assignment =
      std::make_shared<const catalog::Assignment>(catalog::Assignment::Equal("default", 4));
  return route;
}

std::vector<uint32_t> Shards(const Targets& targets) {
  std::vector<uint32_t> ids;
  for (const ShardId shard : targets.shards) ids.push_back(shard.value);
  return ids;
}

// The shard of {k: value}.
uint32_t Owner(const catalog::Route& route, std::string_view document) {
  return route.assignment->OwnerOf(bson::HashValue(Json(document)["k"])).value;
}

struct Case {
  std::string_view filter;
  std::string_view pinned;  // a document whose k decides; empty: all shards
};

TEST(TargetTest, FiltersGoToTheOwnersOfTheirKeysOrToAll) {
  const catalog::Route route = ShardedRoute(R"({"k": "hashed"})");
  query::QueryContext context;
  const Case cases[] = {
      {R"({"k": 5})", R"({"k": 5})"},
      {R"({"k": "text"})", R"({"k": "text"})"},
      {R"({"k": {"a": 1}})", R"({"k": {"a": 1}})"},
      {R"({"k": {"$eq": 7}})", R"({"k": 7})"},
      {R"({"k": {"$in": [7]}})", R"({"k": 7})"},
      {R"({"x": 1, "k": 9})", R"({"k": 9})"},
      {R"({"$and": [{"k": 9}, {"x": 1}]})", R"({"k": 9})"},
      {R"({"k": 2.9})", R"({"k": 2})"},  // the hash truncates
      {R"({})", ""},
      {R"({"x": 1})", ""},
      {R"({"k": null})", ""},  // matches missing fields too
      {R"({"k": [1, 2]})", ""},
      {R"({"k": {"$gt": 5}})", ""},
      {R"({"k": {"$regularExpression": {"pattern": "a", "options": ""}}})", ""},
      {R"({"$or": [{"k": 1}, {"x": 2}]})", ""},
  };
  for (const Case& c : cases) {
    const auto targets = TargetFilter(route, Json(c.filter), {}, context);
    ASSERT_TRUE(targets.ok()) << c.filter << ": " << targets.status();
    if (c.pinned.empty()) {
      EXPECT_EQ(Shards(*targets), (std::vector<uint32_t>{0, 1, 2, 3})) << c.filter;
      EXPECT_FALSE(targets->by_key) << c.filter;
    } else {
      EXPECT_EQ(Shards(*targets), std::vector<uint32_t>{Owner(route, c.pinned)}) << c.filter;
      EXPECT_TRUE(targets->by_key) << c.filter;
    }
  }
}

TEST(TargetTest, InGoesToEachOwnerOnce) {
  const catalog::Route route = ShardedRoute(R"({"k": "hashed"})");
  query::QueryContext context;
  const auto targets =
      TargetFilter(route, Json(R"({"k": {"$in": [1, 2, 3, 4, 5, 6, 7, 8, 9]}})"), {}, context);
  ASSERT_TRUE(targets.ok());
  std::set<uint32_t> owners;
  for (int i = 1; i <= 9; ++i) owners.insert(Owner(route, "{\"k\": " + std::to_string(i) + "}"));
  EXPECT_EQ(Shards(*targets), std::vector<uint32_t>(owners.begin(), owners.end()));
}

TEST(TargetTest, AnImpossibleFilterStillHasOneShardToAsk) {
  query::QueryContext context;
  const auto targets =
      TargetFilter(ShardedRoute(R"({"k": "hashed"})"), Json(R"({"k": {"$in": []}})"), {}, context);
  ASSERT_TRUE(targets.ok());
  EXPECT_EQ(targets->shards.size(), 1u);
}

TEST(TargetTest, ACompoundKeyIsPlacedByItsHashedField) {
  const catalog::Route route = ShardedRoute(R"({"k": "hashed", "b": 1})");
  query::QueryContext context;
  for (const std::string_view filter : {R"({"k": 3, "b": 4})", R"({"k": 3})"}) {
    const auto targets = TargetFilter(route, Json(filter), {}, context);
    ASSERT_TRUE(targets.ok());
    EXPECT_EQ(Shards(*targets), std::vector<uint32_t>{Owner(route, R"({"k": 3})")}) << filter;
  }
}

TEST(TargetTest, StringsUnderACollationHaveNoSingleHash) {
  query::QueryContext context;
  const bson::Document french = Json(R"({"locale": "fr"})"),
                       simple = Json(R"({"locale": "simple"})");
  const catalog::Route plain = ShardedRoute(R"({"k": "hashed"})");
  const bson::Document text = Json(R"({"k": "a"})"), number = Json(R"({"k": 1})");
  EXPECT_EQ(TargetFilter(plain, text, french, context)->shards.size(), 4u);
  EXPECT_EQ(TargetFilter(plain, number, french, context)->shards.size(), 1u);
  EXPECT_EQ(TargetFilter(plain, text, simple, context)->shards.size(), 1u);
  const catalog::Route collated =
      ShardedRoute(R"({"k": "hashed"})", R"({"collation": {"locale": "de"}})");
  EXPECT_EQ(TargetFilter(collated, text, {}, context)->shards.size(), 4u);
}

TEST(TargetTest, UnshardedCollectionsLiveOnTheirPrimary) {
  auto entry = std::make_shared<catalog::CollectionEntry>();
  entry->primary = ShardId{2};
  catalog::Route route;
  route.entry = std::move(entry);
  const auto targets = TargetAtOnce(route, Json(R"({"anything": {"$gt": 1}})"), {});
  ASSERT_TRUE(targets);
  EXPECT_EQ(Shards(*targets), std::vector<uint32_t>{2});
  EXPECT_EQ(TargetDocument(route, Json(R"({"_id": 1})"))->value, 2u);
}

TEST(TargetTest, DocumentsGoToTheShardOfTheirKey) {
  const catalog::Route route = ShardedRoute(R"({"k": "hashed"})");
  EXPECT_EQ(TargetDocument(route, Json(R"({"_id": 1, "k": 5})"))->value,
            Owner(route, R"({"k": 5})"));
  EXPECT_EQ(TargetDocument(route, Json(R"({"_id": 1})"))->value, Owner(route, R"({"k": null})"));
  EXPECT_EQ(CodeOf(TargetDocument(route, Json(R"({"k": [1]})")).status()),
            ErrorCode::kShardKeyNotFound);
}

TEST(TargetTest, ErrorsOfTheFilterAreReported) {
  query::QueryContext context;
  const auto targets = TargetFilter(ShardedRoute(R"({"k": "hashed"})"),
                                    Json(R"({"x": {"$noSuchOperator": 1}})"), {}, context);
  EXPECT_EQ(CodeOf(targets.status()), ErrorCode::kBadValue);
}

}  // namespace
}  // namespace evenkeel::router
