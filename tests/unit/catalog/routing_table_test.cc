// Tests of the router's cache of routes.
#include "catalog/routing_table.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bson/json.h"

namespace evenkeel::catalog {
namespace {

std::shared_ptr<const Route> MakeRoute(const std::string& ns, uint64_t version = 1) {
  auto entry = std::make_shared<CollectionEntry>();
  entry->ns = ns;
  entry->version = CatalogVersion{version};
  entry->primary = ShardId{4};
  auto route = std::make_shared<Route>();
  route->entry = std::move(entry);
  return route;
}

TEST(RoutingTable, KeepsTheLastRouteOfAName) {
  RoutingTable table;
  EXPECT_EQ(table.Find("db.a"), nullptr);
  table.Put(MakeRoute("db.a"));
  table.Put(MakeRoute("db.b"));
  EXPECT_EQ(table.Find("db.a")->entry->version, CatalogVersion{1});
  table.Put(MakeRoute("db.a", 2));
  EXPECT_EQ(table.Find("db.a")->entry->version, CatalogVersion{2});
  table.Forget("db.a");
  table.Forget("db.unknown");
  EXPECT_EQ(table.Find("db.a"), nullptr);
  ASSERT_NE(table.Find("db.b"), nullptr);
  table.Clear();
  EXPECT_EQ(table.Find("db.b"), nullptr);
}

TEST(RoutingTable, ARouteOutlivesItsPlaceInTheTable) {
  RoutingTable table;
  table.Put(MakeRoute("db.a"));
  const auto route = table.Find("db.a");
  table.Clear();
  EXPECT_EQ(route->entry->ns, "db.a");
}

TEST(Route, ShardsOfUnshardedAndShardedCollections) {
  auto route = std::make_shared<Route>(*MakeRoute("db.a"));
  EXPECT_EQ(route->Shards(), std::vector{ShardId{4}});
  route->assignment = std::make_shared<const Assignment>(Assignment::Equal("default", 3));
  EXPECT_EQ(route->Shards(), (std::vector{ShardId{0}, ShardId{1}, ShardId{2}}));
}

}  // namespace
}  // namespace evenkeel::catalog
