// The harness's heavy half, and what it is good for by itself.
#include "tests/unit/router/harness.h"

#include <absl/time/clock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/wait.h"
#include "base/bson/hash.h"
#include "base/bson/number.h"
#include "base/check.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "router/cursor/cursor_table.h"
#include "router/router.h"
#include "router/session/async_mutex.h"
#include "router/session/session_table.h"
#include "tests/unit/router/harness_await.h"
#include "wire/protocol/error_reply.h"
#include "wire/protocol/operation_text.h"

namespace evenkeel::router {
namespace {

constexpr absl::Duration kMaxDrift = absl::Seconds(10);

bson::Document Flatten(const wire::Message& message) {
  bson::Builder flat(message.body);
  for (const wire::DocumentSequence& sequence : message.sequences) {
    flat.OpenArray(sequence.name);
    bson::ArrayAppender array(flat);
    for (const bson::View document : sequence.documents) array.Add(document);
    flat.Close();
  }
  return flat.Finish();
}

Awaitable<void> HandleInto(Router& router, std::shared_ptr<wire::ClientState> client,
                           absl::StatusOr<wire::Request> request,
                           std::function<void(wire::Reply)> done) {
  if (!request.ok()) {
    done(router.ErrorFor(request.status()));
    co_return;
  }
  done(co_await router.Handle(std::move(client), *std::move(request)));
}

// The command with `$db`, which is "db" unless it has one.
bson::Document WithDatabase(std::string_view json) {
  bson::Builder body(Json(json).view());
  if (!Json(json).view().Contains("$db")) body.Append("$db", "db");
  return body.Finish();
}

}  // namespace

bson::Document Json(std::string_view json) {
  auto document = bson::FromJson(json);
  if (!document.ok()) ADD_FAILURE() << document.status() << " in " << json;
  EVENKEEL_CHECK(document.ok());
  return *std::move(document);
}

bson::Document FailedReply(const absl::Status& status) {
  wire::ReplyContext to_peer;
  to_peer.to_peer = true;
  return wire::ErrorReply(status, to_peer);
}

bson::Document StaleReply() {
  return FailedReply(MakeError(ErrorCode::kStaleConfig, "another version"));
}

class FakeShard::Channel final : public wire::ShardChannel {
 public:
  explicit Channel(FakeShard& shard) : shard_(shard) {}
  Awaitable<absl::StatusOr<wire::Message>> Call(wire::Message message, absl::Time deadline,
                                                base::CancellationToken cancelled) override {
    const std::string command(message.body.Front().key);
    const bson::Document request = Flatten(message);
    shard_.requests_.push_back(request);
    // As with a real shard the answer comes later.
    co_await boost::asio::post(boost::asio::use_awaitable);
    if (shard_.held_.contains(command)) {
      const auto gate = shard_.waiting_.emplace_back(std::make_shared<base::Event>());
      const absl::Status status = co_await gate->Wait(deadline, cancelled);
      if (!status.ok()) co_return status;
    }
    if (auto& broken = shard_.broken_[command]; !broken.empty()) {
      absl::Status error = std::move(broken.front());
      broken.pop_front();
      co_return error;
    }
    auto reply = std::make_shared<const bson::Document>(shard_.ReplyTo(command, request));
    wire::Message answer;
    answer.body = reply->view();
    answer.owner = std::move(reply);
    co_return answer;
  }

 private:
  FakeShard& shard_;
};

std::unique_ptr<wire::ShardChannel> FakeShard::MakeChannel() {
  return std::make_unique<Channel>(*this);
}

void FakeShard::Release() {
  held_.clear();
  for (const auto& gate : waiting_) gate->Set();
}

std::vector<bson::Document> FakeShard::RequestsOf(std::string_view command) const {
  std::vector<bson::Document> found;
  for (const bson::Document& request : requests_) {
    if (request.view().Front().key == command) found.push_back(request);
  }
  return found;
}

bson::Document FakeShard::ReplyTo(const std::string& command, bson::View request) {
  if (auto& scripted = scripted_[command]; !scripted.empty()) {
    bson::Document reply = std::move(scripted.front());
    scripted.pop_front();
    return reply;
  }
  if (const auto found = handlers_.find(command); found != handlers_.end()) {
    const Handler handler = found->second;  // it may set another one
    return handler(request);
  }
  return FailedReply(Error(ErrorCode::kCommandNotFound, "the fake has no answer to {}", command));
}

struct RouterTest::Parts {
  boost::asio::io_context io;
  // Timers wait by the real clock, so the fake one begins there.
  base::FakeWallClock wall{absl::Now()};
  base::HybridClock clock{&wall, kMaxDrift};
  std::vector<std::unique_ptr<FakeShard>> shards;
  std::map<std::string, std::unique_ptr<FakeShard>> processes;  // by address
  std::unique_ptr<Router> router;
  std::shared_ptr<wire::ClientState> client = std::make_shared<wire::ClientState>();
  std::map<std::string, bson::Document> catalog;
  std::map<std::string, uint64_t> versions;
  uint64_t next_id = 1000;

  OpenChannel WayToProcesses() {
    return [this](const std::string&, const std::string& host) {
      const auto found = processes.find(host);
      return found == processes.end() ? nullptr : found->second->MakeChannel();
    };
  }

  void Put(catalog::CollectionEntry entry) {
    const std::string ns = entry.ns;
    entry.id = CollectionId{next_id++};
    if (const auto known = catalog.find(ns); known != catalog.end()) {
      entry.id = CollectionId{static_cast<uint64_t>(known->second["id"].AsInt64())};
    }
    entry.version = CatalogVersion{++versions[ns]};
    entry.uuid = std::string(16, 'u');
    auto index = catalog::IndexEntry::FromSpec(
        IndexId{next_id++}, Json(R"({"v": 2, "key": {"_id": 1}, "name": "_id_"})"));
    EVENKEEL_CHECK(index.ok());
    entry.indexes.push_back(*std::move(index));
    catalog[ns] = entry.ToBson();
  }
};

RouterTest::RouterTest(size_t shard_count, bool test_commands) : parts_(std::make_unique<Parts>()) {
  std::vector<ShardMember> members;
  for (uint32_t i = 0; i < shard_count; ++i) {
    parts_->shards.push_back(std::make_unique<FakeShard>());
    members.push_back({{ShardId{i}, "127.0.0.1:27017"}, parts_->shards.back()->MakeChannel()});
  }
  shard(0).On("find", [this](bson::View request) { return Catalog(request); });
  RouterOptions options;
  options.test_commands = test_commands;
  parts_->router = std::make_unique<Router>(std::move(options), std::move(members),
                                            parts_->WayToProcesses(), &parts_->clock, &parts_->wall,
                                            parts_->io.get_executor(), parts_->io.get_executor());
  parts_->client->connection_id = 7;
  parts_->client->remote = "127.0.0.1:5000";
}

// Lets work in the background end.
RouterTest::~RouterTest() { Poll(); }

FakeShard& RouterTest::shard(uint32_t i) { return *parts_->shards[i]; }
FakeShard& RouterTest::AddProcess(const std::string& host) {
  return *(parts_->processes[host] = std::make_unique<FakeShard>());
}
RouterState& RouterTest::state() { return parts_->router->state(); }
Router& RouterTest::router() { return *parts_->router; }
wire::ClientState& RouterTest::client() { return *parts_->client; }
void RouterTest::Disconnect() { parts_->client->disconnected.Cancel(); }
base::FakeWallClock& RouterTest::wall() { return parts_->wall; }
size_t RouterTest::OpenCursors() { return state().cursors->counts().open; }

void RouterTest::Hold(uint32_t i, std::string command) { shard(i).Hold(std::move(command)); }

void RouterTest::Release() {
  for (const auto& shard : parts_->shards) shard->Release();
}

void RouterTest::AddUnsharded(std::string ns, ShardId primary, std::string_view options) {
  catalog::CollectionEntry entry;
  entry.ns = std::move(ns);
  entry.primary = primary;
  entry.options = Json(options);
  parts_->Put(std::move(entry));
}

void RouterTest::AddSharded(std::string ns, std::string_view key) {
  catalog::CollectionEntry entry;
  entry.ns = std::move(ns);
  auto pattern = catalog::ShardKeyPattern::Parse(Json(key));
  EVENKEEL_CHECK(pattern.ok());
  entry.shard_key = *std::move(pattern);
  entry.assignment = std::string(catalog::kDefaultAssignment);
  parts_->Put(std::move(entry));
}

void RouterTest::AddView(std::string ns, std::string_view on, std::string_view pipeline) {
  catalog::CollectionEntry entry;
  entry.ns = std::move(ns);
  entry.kind = catalog::CollectionKind::kView;
  const bson::Document wrapped = Json("{\"p\": " + std::string(pipeline) + "}");
  bson::Builder options;
  options.Append("viewOn", on).Append("pipeline", wrapped["p"]);
  entry.options = options.Finish();
  parts_->Put(std::move(entry));
}

bson::Document RouterTest::Catalog(bson::View request) const {
  const std::string_view collection = request["find"].AsString();
  bson::Builder reply;
  reply.OpenDocument("cursor").OpenArray("firstBatch");
  bson::ArrayAppender array(reply);
  const bson::Value id = request["filter"].AsDocument()["_id"];
  if (collection == "catalog") {
    for (const auto& [ns, row] : parts_->catalog) {
      if (!id.Is(bson::Type::kString) || id.AsString() == ns) array.Add(row);
    }
  } else if (collection == "assignments") {
    const auto ranges = catalog::Assignment::Equal(std::string(catalog::kDefaultAssignment),
                                                   static_cast<uint32_t>(parts_->shards.size()));
    array.Add(ranges.ToBson());
  } else if (collection == "shards") {
    for (size_t i = 0; i < parts_->shards.size(); ++i) {
      const std::string name = "shard" + std::to_string(i);
      bson::Builder row;
      row.Append("_id", name).Append("host", name + "/127.0.0.1:27017");
      array.Add(row.Finish());
    }
  }
  reply.Close().Append("id", int64_t{0}).Append("ns", "config").Close();
  return reply.Finish();
}

wire::Message MessageFrom(bson::Document body) {
  auto owned = std::make_shared<const bson::Document>(std::move(body));
  wire::Message message;
  message.body = owned->view();
  message.owner = std::move(owned);
  return message;
}

std::shared_ptr<RouterTest::Pending> RouterTest::Begin(std::string_view json, uint32_t flags) {
  auto pending = std::make_shared<Pending>();
  wire::Message message = MessageFrom(WithDatabase(json));
  message.flags = flags;
  message.operation = wire::NewOperationId();
  auto request = wire::ParseRequest(std::move(message), parts_->wall.Now());
  boost::asio::co_spawn(parts_->io,
                        HandleInto(*parts_->router, parts_->client, std::move(request),
                                   [pending](wire::Reply reply) {
                                     pending->reply = std::move(reply.body);
                                     pending->more_to_come = reply.more_to_come;
                                     pending->done = true;
                                   }),
                        boost::asio::detached);
  return pending;
}

void RouterTest::Poll() {
  parts_->io.restart();
  parts_->io.poll();
}

void RouterTest::RunUntil(const std::function<bool()>& done) {
  parts_->io.restart();
  while (!done() && parts_->io.run_one() > 0) {
  }
  EVENKEEL_CHECK(done());
}

void RouterTest::Finish(Pending& pending) {
  RunUntil([&pending] { return pending.done; });
}

bson::Document RouterTest::Run(std::string_view json) {
  const auto pending = Begin(json);
  Finish(*pending);
  return pending->reply;
}

bson::Document RouterTest::Run(std::string_view json, std::string_view sequence,
                               std::vector<bson::Document> documents) {
  bson::Builder body(WithDatabase(json).view());
  body.OpenArray(sequence);
  bson::ArrayAppender array(body);
  for (const bson::Document& document : documents) array.Add(document);
  body.Close();
  return Run(bson::ToCanonicalJson(body.Finish()));
}

void AwaitTest::AwaitVoid(Awaitable<void> work) {
  bool done = false;
  boost::asio::co_spawn(parts().io, std::move(work), [&done](std::exception_ptr error) {
    EVENKEEL_CHECK(!error);
    done = true;
  });
  RunUntil([&done] { return done; });
}

uint32_t RouterTest::OwnerOf(int32_t key) const {
  bson::Builder document;
  document.Append("k", key);
  const bson::Document made = document.Finish();
  return catalog::Assignment::Equal("x", static_cast<uint32_t>(parts_->shards.size()))
      .OwnerOf(bson::HashValue(made["k"]))
      .value;
}

int32_t RouterTest::KeyOn(uint32_t shard, int32_t from) const {
  while (OwnerOf(from) != shard) ++from;
  return from;
}

std::vector<size_t> RouterTest::CountsOf(std::string_view command) const {
  std::vector<size_t> counts;
  for (const auto& shard : parts_->shards) counts.push_back(shard->RequestsOf(command).size());
  return counts;
}

void RouterTest::ForgetRequests() {
  for (const auto& shard : parts_->shards) shard->ForgetRequests();
}

std::string Fields(const bson::Document& reply) {
  bson::Builder fields;
  for (const auto& [key, value] : reply.view()) {
    if (key != "ok" && key != "$clusterTime" && key != "operationTime") fields.Append(key, value);
  }
  return bson::ToJson(fields.Finish());
}

int CodeOfReply(const bson::Document& reply) {
  const bson::Value code = reply["code"];
  return code.IsNumber() ? static_cast<int>(bson::ToInt64Truncated(code)) : 0;
}

bson::Document CursorReply(std::string_view rows, int64_t id, bool first) {
  const bson::Document wrapped = Json("{\"rows\": " + std::string(rows) + "}");
  bson::Builder reply;
  reply.OpenDocument("cursor")
      .Append(first ? "firstBatch" : "nextBatch", wrapped["rows"])
      .Append("id", id)
      .Append("ns", "db.c")
      .Close();
  return reply.Finish();
}

namespace {

class HarnessTest : public RouterTest {};

TEST_F(HarnessTest, CommandsReachTheFakesAndTheCatalogIsFound) {
  AddUnsharded("db.c", ShardId{1});
  shard(1).On("find", [](bson::View) { return CursorReply(R"([{"_id": 1}])"); });
  const bson::Document reply = Run(R"({"find": "c"})");
  EXPECT_EQ(CodeOfReply(reply), 0) << bson::ToJson(reply);
  EXPECT_EQ(Fields(reply), R"({"cursor":{"firstBatch":[{"_id":1}],"id":0,"ns":"db.c"}})");
  EXPECT_EQ(CountsOf("find"), (std::vector<size_t>{1, 1, 0}));
}

TEST_F(HarnessTest, KeysAreSpreadOverAllShards) {
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(OwnerOf(KeyOn(i)), i);
}

}  // namespace
}  // namespace evenkeel::router
