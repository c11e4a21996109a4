// A router over fake shards, with a catalog that tests write directly, run step by step in the
// test's thread.
//
// Light on purpose: tests that run coroutines or look into the router's state include
// harness_await.h.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/types.h"
#include "tests/unit/router/fake_shard.h"

namespace evenkeel::wire {
struct ClientState;
}

namespace evenkeel::router {

class Router;
struct RouterState;

class RouterTest : public testing::Test {
 protected:
  explicit RouterTest(size_t shard_count = 3, bool test_commands = false);
  ~RouterTest() override;

  // Adds collections to the catalog on shard 0. Versions grow with each call for the same name.
  void AddUnsharded(std::string ns, ShardId primary, std::string_view options = "{}");
  void AddSharded(std::string ns, std::string_view key);
  void AddView(std::string ns, std::string_view on, std::string_view pipeline);

  // Runs one command as a client sends it; `$db` is "db" unless given. Returns the whole reply.
  bson::Document Run(std::string_view json);
  // The same with a section of documents.
  bson::Document Run(std::string_view json, std::string_view sequence,
                     std::vector<bson::Document> documents);
  // Begins a command; its reply appears when Poll or Finish has run it to the end.
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

  FakeShard& shard(uint32_t i);
  // A process beside the shards, at this address. Before the first one the router has no way to
  // others, as one whose shards are in its own process.
  FakeShard& AddProcess(const std::string& host);
  RouterState& state();
  Router& router();
  wire::ClientState& client();
  void Disconnect();
  base::FakeWallClock& wall();
  size_t OpenCursors();
  // Requests of this command to this shard wait until Release.
  void Hold(uint32_t shard, std::string command);
  void Release();

  // The shard that owns an integer key's hash in AddSharded's collections.
  uint32_t OwnerOf(int32_t key) const;
  // The first integer from `from` on that this shard owns.
  int32_t KeyOn(uint32_t shard, int32_t from = 0) const;
  // The number of requests of this command, by shard.
  std::vector<size_t> CountsOf(std::string_view command) const;
  void ForgetRequests();
  // What shard 0 answers to a find on the catalog: for tests that give it another handler for data.
  bson::Document Catalog(bson::View request) const;

  struct Parts;
  // Drives the loop until `done`.
  void RunUntil(const std::function<bool()>& done);
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

// A command's reply as relaxed JSON, without ok, $clusterTime and operationTime.
std::string Fields(const bson::Document& reply);
// The code of an error reply; 0 for success.
int CodeOfReply(const bson::Document& reply);
// {cursor: {firstBatch: [rows], id, ns: "db.c"}} of a shard.
bson::Document CursorReply(std::string_view rows, int64_t id = 0, bool first = true);

// What a driver adds to a retryable write: session and number.
inline constexpr std::string_view kRetryable =
    R"("lsid": {"id": {"$binary": {"base64": "AAECAwQFBgcICQoLDA0ODw==", "subType": "04"}}},
       "txnNumber": {"$numberLong": "4"})";

}  // namespace evenkeel::router
