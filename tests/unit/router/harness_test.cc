// The harness itself: commands reach the fakes, and the catalog is found.
#include "tests/unit/router/harness.h"

#include <absl/time/clock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/bson/hash.h"
#include "base/bson/number.h"
#include "catalog/assignment.h"
#include "router/session/session_table.h"

namespace evenkeel::router {
namespace {

constexpr absl::Duration kMaxDrift = absl::Seconds(10);

Awaitable<void> HandleInto(Router& router, std::shared_ptr<wire::ClientState> client,
                           absl::StatusOr<wire::Request> request,
                           std::shared_ptr<bson::Document> reply, std::shared_ptr<bool> more,
                           std::shared_ptr<bool> done) {
  wire::Reply made;
  if (request.ok()) {
    made = co_await router.Handle(std::move(client), *std::move(request));
  } else {
    made = router.ErrorFor(request.status());
  }
  *reply = std::move(made.body);
  *more = made.more_to_come;
  *done = true;
}

}  // namespace

RouterTest::RouterTest(size_t shard_count)
    : wall_(absl::Now()), clock_(&wall_, kMaxDrift) {
  std::vector<std::unique_ptr<wire::ShardChannel>> channels;
  for (size_t i = 0; i < shard_count; ++i) {
    shards_.push_back(std::make_unique<FakeShard>());
    channels.push_back(shards_.back()->MakeChannel());
  }
  shards_[0]->On("find", [this](bson::View request) { return Catalog(request); });
  router_ = std::make_unique<Router>(RouterOptions{}, std::move(channels), &clock_, &wall_,
                                     io_.get_executor(), io_.get_executor());
  client_ = std::make_shared<wire::ClientState>();
  client_->connection_id = 7;
  client_->remote = "127.0.0.1:5000";
}

RouterTest::~RouterTest() = default;

void RouterTest::Put(catalog::CollectionEntry entry) {
  const std::string ns = entry.ns;
  entry.id = CollectionId{next_id_++};
  if (const auto known = catalog_.find(ns); known != catalog_.end()) {
    entry.id = CollectionId{static_cast<uint64_t>(known->second["id"].AsInt64())};
  }
  entry.version = CatalogVersion{++versions_[ns]};
  entry.uuid = std::string(16, 'u');
  auto index = catalog::IndexEntry::FromSpec(IndexId{next_id_++},
                                             Json(R"({"v": 2, "key": {"_id": 1}, "name": "_id_"})"));
  EVENKEEL_CHECK(index.ok());
  entry.indexes.push_back(*std::move(index));
  catalog_[ns] = entry.ToBson();
}

void RouterTest::AddUnsharded(std::string ns, ShardId primary, std::string_view options) {
  catalog::CollectionEntry entry;
  entry.ns = std::move(ns);
  entry.primary = primary;
  entry.options = Json(options);
  Put(std::move(entry));
}

void RouterTest::AddSharded(std::string ns, std::string_view key) {
  catalog::CollectionEntry entry;
  entry.ns = std::move(ns);
  auto pattern = catalog::ShardKeyPattern::Parse(Json(key));
  EVENKEEL_CHECK(pattern.ok());
  entry.shard_key = *std::move(pattern);
  entry.assignment = std::string(catalog::kDefaultAssignment);
  Put(std::move(entry));
}

void RouterTest::AddView(std::string ns, std::string_view on, std::string_view pipeline) {
  catalog::CollectionEntry entry;
  entry.ns = std::move(ns);
  entry.kind = catalog::CollectionKind::kView;
  bson::Builder options;
  options.Append("viewOn", on);
  const bson::Document wrapped = Json("{\"p\": " + std::string(pipeline) + "}");
  options.Append("pipeline", wrapped["p"]);
  entry.options = options.Finish();
  Put(std::move(entry));
}

bson::Document RouterTest::Catalog(bson::View request) const {
  const std::string_view collection = request["find"].AsString();
  bson::Builder reply;
  reply.OpenDocument("cursor").OpenArray("firstBatch");
  bson::ArrayAppender array(reply);
  const bson::Value id = request["filter"].AsDocument()["_id"];
  if (collection == "catalog") {
    for (const auto& [ns, row] : catalog_) {
      if (!id.Is(bson::Type::kString) || id.AsString() == ns) array.Add(row);
    }
  } else if (collection == "assignments") {
    array.Add(catalog::Assignment::Equal(std::string(catalog::kDefaultAssignment),
                                         static_cast<uint32_t>(shards_.size()))
                  .ToBson());
  } else if (collection == "shards") {
    for (size_t i = 0; i < shards_.size(); ++i) {
      bson::Builder row;
      const std::string name = "shard" + std::to_string(i);
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

namespace {

// The command with `$db`, which is "db" unless it has one.
bson::Document WithDatabase(std::string_view json) {
  bson::Builder body(Json(json).view());
  if (!Json(json).view().Contains("$db")) body.Append("$db", "db");
  return body.Finish();
}

}  // namespace

std::shared_ptr<RouterTest::Pending> RouterTest::Begin(std::string_view json, uint32_t flags) {
  auto pending = std::make_shared<Pending>();
  wire::Message message = MessageFrom(WithDatabase(json));
  message.flags = flags;
  const auto share = [&pending](auto* member) {
    return std::shared_ptr<std::remove_pointer_t<decltype(member)>>(pending, member);
  };
  boost::asio::co_spawn(
      io_,
      HandleInto(*router_, client_, wire::ParseRequest(std::move(message), wall_.Now()),
                 share(&pending->reply), share(&pending->more_to_come), share(&pending->done)),
      boost::asio::detached);
  return pending;
}

void RouterTest::Poll() {
  io_.restart();
  io_.poll();
}

void RouterTest::Finish(Pending& pending) {
  io_.restart();
  while (!pending.done && io_.run_one() > 0) {
  }
  EVENKEEL_CHECK(pending.done);
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

void RouterTest::AwaitVoid(Awaitable<void> work) {
  bool done = false;
  boost::asio::co_spawn(io_, std::move(work), [&done](std::exception_ptr error) {
    EVENKEEL_CHECK(!error);
    done = true;
  });
  io_.restart();
  while (!done && io_.run_one() > 0) {
  }
  EVENKEEL_CHECK(done);
}

uint32_t RouterTest::OwnerOf(int32_t key) const {
  bson::Builder document;
  document.Append("k", key);
  const bson::Document made = document.Finish();
  return catalog::Assignment::Equal("x", static_cast<uint32_t>(shards_.size()))
      .OwnerOf(bson::HashValue(made["k"]))
      .value;
}

int32_t RouterTest::KeyOn(uint32_t shard, int32_t from) const {
  while (OwnerOf(from) != shard) ++from;
  return from;
}

std::vector<size_t> RouterTest::CountsOf(std::string_view command) const {
  std::vector<size_t> counts;
  for (const auto& shard : shards_) counts.push_back(shard->RequestsOf(command).size());
  return counts;
}

void RouterTest::ForgetRequests() {
  for (const auto& shard : shards_) shard->ForgetRequests();
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
