// One shard as a router sees it, for tests: the commands' service on a real store with LMDB in a
// temporary folder and a log in memory. Commands are JSON texts; they run on a loop of their own.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <future>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/cancellation.h"
#include "base/async/event_loop.h"
#include "base/bson/document.h"
#include "base/clock.h"
#include "shard/command/service.h"
#include "storage/store.h"
#include "tests/lib/fake_shard_log.h"
#include "tests/lib/temp_folder.h"

namespace evenkeel::tests {

// A collection of a test. Index `i` of `indexes` has the id `id` + 1 + i; index 0 is `_id_`.
struct TestCollection {
  uint64_t id = 1000;
  uint64_t version = 1;
  std::string ns = "db.c";
  std::string shard_key;             // {"a": "hashed"}; empty: unsharded
  std::vector<std::string> indexes;  // behind `_id_`: {"key": {…}, "name": …, …}
  std::vector<bool> building;        // per entry of `indexes`; missing: ready
  bool writes_closed = false;
  bool retired = false;
  std::string copied_to;               // {"id": NumberLong, "key": {…}} while a job copies it
  std::string assignment = "default";  // of a sharded one

  std::string_view name() const { return std::string_view(ns).substr(ns.find('.') + 1); }
  uint64_t index_id(size_t i) const { return id + 1 + i; }
  // The entry as a JSON text, for _applyCatalog.
  std::string Entry() const;
  // "$shard": {…}, with more fields inside.
  std::string Shard(std::string_view more = "") const;
  // {name: "c", rest, $shard}.
  std::string Command(std::string_view command, std::string_view rest) const;
};

class ShardFixture {
 public:
  struct Options {
    uint32_t shard = 0;
    uint32_t shards = 1;                // of the assignment "default"
    std::vector<int64_t> range_mins{};  // instead of equal ranges: one per shard
    size_t table_bytes_max = limits::kMemTableBytesMax;
    bool init = true;  // give the shard its identity
  };
  explicit ShardFixture(Options options);
  ShardFixture() : ShardFixture(Options{}) {}
  ~ShardFixture();

  // Closes the store and opens it again.
  void Restart();
  // The same as a crash does: what the log has not committed is gone.
  void Crash();

  // Runs a command to its end. The reply is {ok: 0, code, …} for a failed one.
  bson::Document Run(const std::string& json);
  bson::Document Run(bson::Document command);
  std::future<bson::Document> Start(const std::string& json);
  std::future<bson::Document> Start(bson::Document command, base::CancellationToken cancelled = {},
                                    absl::Time deadline = absl::InfiniteFuture());
  // Starts a command that writes, and waits until the log has something of it. For logs that hold.
  std::future<bson::Document> StartWrite(const std::string& json);
  // The reply as a JSON text with numbers as plain as they can be.
  std::string RunJson(const std::string& json);
  // The code of a failed command, 0 for a successful one.
  int CodeOfRun(const std::string& json);

  // Gives the shard a collection, or the next version of it. Aborts when it fails.
  void Put(const TestCollection& collection);
  void Drop(const TestCollection& collection);
  // Inserts documents; aborts when one fails.
  void Insert(const TestCollection& collection, const std::vector<std::string>& documents);
  // All rows of a find, getMore included: `rest` has filter, sort and so on.
  std::vector<std::string> Find(const TestCollection& collection, const std::string& rest = "");
  // What validate says: "" for a valid collection, else its errors or the code.
  std::string Validate(const TestCollection& collection);
  int64_t Count(const TestCollection& collection);

  // Runs a function on the writer thread, past all commands; waits until it is durable or, for a
  // held log, only until it was executed: so were all tasks before it then.
  void Write(const std::function<void(storage::WriteContext&)>& body, bool durable = true);
  // How many records the table has whose keys begin so.
  size_t CountRecords(storage::Table table, const std::string& prefix = "");

  // Runs a coroutine on the loop.
  void RunOnLoop(std::function<shard::Awaitable<void>()> body);

  base::FakeWallClock wall{absl::FromUnixSeconds(1'700'000'000)};
  base::HybridClock clock{&wall, absl::Seconds(10)};
  FakeShardLog log;
  const std::string cluster_id = "twelve bytes";

  storage::ShardStore& store() { return *store_; }
  shard::ShardService& service() { return *service_; }

 private:
  void Open();
  void CloseService();

  const Options options_;
  TempFolder folder_;
  boost::asio::thread_pool pool_{2};
  std::unique_ptr<storage::ShardStore> store_;
  std::unique_ptr<base::EventLoop> loop_;
  std::unique_ptr<shard::ShardService> service_;
};

// A field of a document as JSON text, by a dotted path.
std::string Field(bson::View document, std::string_view path);
bson::Document Json(const std::string& text);
// "a, b, c" as [a, b, c].
std::string List(const std::vector<std::string>& rows);

}  // namespace evenkeel::tests
