// A router over fake shards, with a catalog that tests write directly, run step by step in the test's thread.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "catalog/collection.h"
#include "router/retry.h"
#include "router/router.h"
#include "tests/lib/fake_shard.h"

namespace evenkeel::router {

using tests::FailedReply;
using tests::FakeShard;
using tests::Json;
using tests::StaleReply;

class RouterTest : public testing::Test {
 protected:
  explicit RouterTest(size_t shard_count = 3);
  ~RouterTest() override;

  // Adds collections to the catalog on shard 0. Versions grow with each call for the same name.
  void AddUnsharded(std::string ns, ShardId primary, std::string_view options = "{}");
  void AddSharded(std::string ns, std::string_view key);
  void AddView(std::string ns, std::string_view on, std::string_view pipeline);

  // Runs one command as a client sends it; `$db` is "db" unless given. Returns the whole reply.
  bson::Document Run(std::string_view json);
  // The same with a section of documents.
  bson::Document Run(std::string_view json, std::string_view sequence, std::vector<bson::Document> documents);
  // Begins a command; its reply appears when Poll has run it to the end.
  struct Pending {
    bson::Document reply;
    bool done = false;
    bool more_to_come = false;
  };
  std::shared_ptr<Pending> Begin(std::string_view json, uint32_t flags = 0);
  // Runs what is ready.
  void Poll();
  // Runs until the command is done.
  void Finish(Pending& pending);

  // Runs a coroutine to its end.
  template <typename T>
  T Await(Awaitable<T> work);
  void AwaitVoid(Awaitable<void> work);

  FakeShard& shard(uint32_t i) { return *shards_[i]; }
  size_t shard_count() const { return shards_.size(); }
  RouterState& state() { return router_->state(); }
  Router& router() { return *router_; }
  wire::ClientState& client() { return *client_; }
  base::FakeWallClock& wall() { return wall_; }
  // The shard that owns an integer key's hash in AddSharded's collections.
  uint32_t OwnerOf(int32_t key) const;
  // The first integer from `from` on that this shard owns.
  int32_t KeyOn(uint32_t shard, int32_t from = 0) const;
  // The requests of all shards of this command, by shard.
  std::vector<size_t> CountsOf(std::string_view command) const;
  void ForgetRequests();
  // What shard 0 answers to a find on the catalog: for tests that give it another handler for data.
  bson::Document Catalog(bson::View request) const;

 private:
  void Put(catalog::CollectionEntry entry);

  boost::asio::io_context io_;
  base::FakeWallClock wall_;
  base::HybridClock clock_;
  std::vector<std::unique_ptr<FakeShard>> shards_;
  std::unique_ptr<Router> router_;
  std::shared_ptr<wire::ClientState> client_;
  std::map<std::string, bson::Document> catalog_;
  std::map<std::string, uint64_t> versions_;
  uint64_t next_id_ = 1000;
};

// A command's reply as relaxed JSON, without ok, $clusterTime and operationTime.
std::string Fields(const bson::Document& reply);
// The code of an error reply; 0 for success.
int CodeOfReply(const bson::Document& reply);
// {cursor: {firstBatch: [rows], id, ns: "db.c"}} of a shard.
bson::Document CursorReply(std::string_view rows, int64_t id = 0, bool first = true);
// A message without sequences.
wire::Message MessageFrom(bson::Document body);

template <typename T>
T RouterTest::Await(Awaitable<T> work) {
  auto result = std::make_shared<std::optional<T>>();
  AwaitVoid([](Awaitable<T> inner, std::shared_ptr<std::optional<T>> out) -> Awaitable<void> {
    out->emplace(co_await std::move(inner));
  }(std::move(work), result));
  return *std::move(*result);
}

}  // namespace evenkeel::router
