// Implements the fixture of one shard.
#include "tests/lib/shard/shard_fixture.h"

#include <absl/synchronization/notification.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <cstdio>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/check.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "tests/lib/store_harness.h"
#include "wire/protocol/message.h"

namespace evenkeel::tests {
namespace {

std::string Long(uint64_t number) {
  return R"({"$numberLong": ")" + std::to_string(number) + R"("})";
}

catalog::Assignment AssignmentOf(const ShardFixture::Options& options) {
  if (options.range_mins.empty()) return catalog::Assignment::Equal("default", options.shards);
  bson::Builder row;
  row.Append("_id", "default").Append("version", int64_t{1}).OpenArray("ranges");
  bson::ArrayAppender ranges(row);
  for (size_t i = 0; i < options.range_mins.size(); ++i) {
    row.OpenDocument(ranges.NextKey());
    row.Append("min", options.range_mins[i]).Append("shard", static_cast<int32_t>(i)).Close();
  }
  row.Close();
  auto assignment = catalog::Assignment::FromBson(row.Finish());
  EVENKEEL_CHECK(assignment.ok());
  return *std::move(assignment);
}

bool IsOk(bson::View reply) { return reply["ok"].missing() || bson::Truthy(reply["ok"]); }

}  // namespace

std::string TestCollection::Entry() const {
  std::string json = R"({"_id": ")" + ns + R"(", "id": )" + Long(id) + R"(, "version": )" +
                     Long(version) + R"(, "kind": "collection", "uuid": )" +
                     R"({"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}, )" +
                     R"("options": {}, )";
  if (!shard_key.empty()) {
    json +=
        R"("key": )" + shard_key + R"(, "unique": false, "assignment": ")" + assignment + R"(", )";
  } else {
    json += R"("primary": 0, )";
  }
  json += R"("indexes": [{"id": )" + Long(index_id(0)) +
          R"(, "ready": true, "spec": {"v": 2, "key": {"_id": 1}, "name": "_id_"}})";
  for (size_t i = 0; i < indexes.size(); ++i) {
    const bool ready = i >= building.size() || !building[i];
    json += R"(, {"id": )" + Long(index_id(i + 1)) + R"(, "ready": )" + (ready ? "true" : "false") +
            R"(, "spec": )" + indexes[i] + "}";
  }
  json += "]";
  if (writes_closed) json += R"(, "writesClosed": true)";
  if (retired) json += R"(, "retired": true)";
  if (!copied_to.empty()) json += R"(, "copiedTo": )" + copied_to;
  return json + "}";
}

std::string TestCollection::Shard(std::string_view more) const {
  std::string json = R"("$shard": {"c": )" + Long(id) + R"(, "v": )" + Long(version);
  if (!more.empty()) json += ", " + std::string(more);
  return json + "}";
}

std::string TestCollection::Command(std::string_view command, std::string_view rest) const {
  std::string json = R"({")" + std::string(command) + R"(": ")" + std::string(name()) + R"(", )";
  if (!rest.empty()) json += std::string(rest) + ", ";
  if (rest.find("$shard") == std::string_view::npos) json += Shard() + ", ";
  return json + R"("$db": "db"})";
}

ShardFixture::ShardFixture(Options options) : options_(std::move(options)) { Open(); }

ShardFixture::~ShardFixture() {
  CloseService();
  pool_.join();
}

void ShardFixture::Open() {
  storage::StoreOptions store_options;
  store_options.folder = folder_.path() + "/store";
  store_options.map_bytes = uint64_t{1} << 30;
  store_options.reserve_bytes = 0;
  store_options.table_bytes_max = options_.table_bytes_max;
  auto store = storage::ShardStore::Open(store_options, &log, &clock);
  EVENKEEL_CHECK(store.ok());
  store_ = *std::move(store);
  loop_ = std::make_unique<base::EventLoop>("test-loop");
  service_ = std::make_unique<shard::ShardService>(store_.get(), &clock, &wall, loop_->executor(),
                                                   pool_.get_executor());
  const absl::Status started =
      boost::asio::co_spawn(loop_->executor(), service_->Start(), boost::asio::use_future).get();
  EVENKEEL_CHECK(started.ok());
  if (!options_.init) return;
  bson::Builder init;
  init.Append("_initShard", 1)
      .AppendObjectId("clusterId", cluster_id)
      .Append("shard", static_cast<int32_t>(options_.shard))
      .Append("assignment", AssignmentOf(options_).ToBson());
  EVENKEEL_CHECK(IsOk(Run(init.Finish())));
}

// The store ends before the loop: tasks on the writer refer to suspended coroutines.
void ShardFixture::CloseService() {
  store_.reset();
  // Commands that waited for durability learn of the end, and answer.
  for (int i = 0; i < 3; ++i) boost::asio::post(loop_->executor(), boost::asio::use_future).get();
  loop_.reset();
  service_.reset();
}

void ShardFixture::Restart() {
  EVENKEEL_CHECK(store_->Close().ok());
  CloseService();
  Open();
}

void ShardFixture::Crash() {
  CloseService();
  log.DropUncommitted();
  log.Hold(false);
  Open();
}

std::future<bson::Document> ShardFixture::Start(bson::Document command,
                                                base::CancellationToken cancelled,
                                                absl::Time deadline) {
  return boost::asio::co_spawn(
      loop_->executor(),
      service_->Handle(wire::MakeMessage(std::move(command)), deadline, std::move(cancelled)),
      boost::asio::use_future);
}

std::future<bson::Document> ShardFixture::Start(const std::string& json) {
  return Start(Json(json));
}

std::future<bson::Document> ShardFixture::StartWrite(const std::string& json) {
  const auto before = log.last();
  auto result = Start(json);
  log.WaitForMoreThan(before);
  return result;
}

bson::Document ShardFixture::Run(bson::Document command) { return Start(std::move(command)).get(); }

bson::Document ShardFixture::Run(const std::string& json) { return Run(Json(json)); }

std::string ShardFixture::RunJson(const std::string& json) { return bson::ToJson(Run(json)); }

int ShardFixture::CodeOfRun(const std::string& json) {
  const bson::Document reply = Run(json);
  return IsOk(reply) ? 0 : static_cast<int>(bson::ToInt64Truncated(reply["code"]));
}

void ShardFixture::Put(const TestCollection& collection) {
  EVENKEEL_CHECK(IsOk(Run(R"({"_applyCatalog": 1, "job": "test", "put": [)" + collection.Entry() +
                          R"(], "drop": []})")));
}

void ShardFixture::Drop(const TestCollection& collection) {
  EVENKEEL_CHECK(IsOk(Run(R"({"_applyCatalog": 1, "job": "test", "put": [], "drop": [)" +
                          Long(collection.id) + "]}")));
}

void ShardFixture::Insert(const TestCollection& collection,
                          const std::vector<std::string>& documents) {
  const bson::Document reply =
      Run(collection.Command("insert", R"("documents": )" + List(documents)));
  EVENKEEL_CHECK(IsOk(reply) && reply["writeErrors"].missing());
}

std::vector<std::string> ShardFixture::Find(const TestCollection& collection,
                                            const std::string& rest) {
  std::vector<std::string> rows;
  bson::Document reply = Run(collection.Command("find", rest));
  while (true) {
    if (!IsOk(reply)) return {"error " + Field(reply, "code")};
    const bson::View cursor = reply["cursor"].AsDocument();
    const bson::Value batch =
        cursor.Contains("firstBatch") ? cursor["firstBatch"] : cursor["nextBatch"];
    for (const auto& [key, row] : batch.AsDocument())
      rows.push_back(bson::ToJson(row.AsDocument()));
    if (cursor["id"].AsInt64() == 0) return rows;
    bson::Builder more;
    more.Append("getMore", cursor["id"].AsInt64())
        .Append("collection", collection.name())
        .Append("$db", "db");
    reply = Run(more.Finish());
  }
}

std::string ShardFixture::Validate(const TestCollection& collection) {
  const bson::Document reply = Run(collection.Command("validate", ""));
  if (!IsOk(reply)) return "error " + Field(reply, "code");
  return bson::Truthy(reply["valid"]) ? "" : Field(reply, "errors");
}

int64_t ShardFixture::Count(const TestCollection& collection) {
  return bson::ToInt64Truncated(Run(collection.Command("count", ""))["n"]);
}

void ShardFixture::Write(const std::function<void(storage::WriteContext&)>& body, bool durable) {
  const auto end = std::make_shared<OpEnd>();
  const auto executed = std::make_shared<absl::Notification>();
  const auto run = [body, executed](storage::WriteContext& context) {
    body(context);
    executed->Notify();
  };
  // Commands that were started before have had a turn on the loop then.
  boost::asio::post(loop_->executor(), boost::asio::use_future).get();
  EVENKEEL_CHECK(store_->Submit(std::make_unique<FunctionOp>(run, end)).ok());
  executed->WaitForNotification();
  if (!durable) return;
  end->done.WaitForNotification();
  EVENKEEL_CHECK(end->status.ok());
}

size_t ShardFixture::CountRecords(storage::Table table, const std::string& prefix) {
  const storage::ReadSlice slice = store_->Read();
  const auto cursor = slice.NewCursor(table);
  size_t count = 0;
  for (cursor->SeekPrefix(prefix); cursor->Valid(); cursor->Next()) ++count;
  return count;
}

void ShardFixture::RunOnLoop(std::function<shard::Awaitable<void>()> body) {
  boost::asio::co_spawn(loop_->executor(), std::move(body), boost::asio::use_future).get();
}

std::string Field(bson::View document, std::string_view path) {
  bson::Value value(bson::Type::kObject, document.data());
  const bson::Path parts(path);
  for (size_t i = 0; i < parts.size() && !value.missing(); ++i) {
    const bool nested = value.Is(bson::Type::kObject) || value.Is(bson::Type::kArray);
    value = nested ? value.AsDocument()[parts.part(i)] : bson::Value();
  }
  if (value.missing()) return "missing";
  bson::Builder out;
  const std::string json = bson::ToJson(out.Append("v", value).Finish());
  const size_t start = json.find(':') + 1;
  return json.substr(json.find_first_not_of(' ', start),
                     json.rfind('}') - json.find_first_not_of(' ', start));
}

bson::Document Json(const std::string& text) {
  auto document = bson::FromJson(text);
  if (!document.ok()) {
    std::fprintf(stderr, "bad JSON in a test: %s\n", text.c_str());
    EVENKEEL_CHECK(document.ok());
  }
  return *std::move(document);
}

std::string List(const std::vector<std::string>& rows) {
  std::string json = "[";
  for (const std::string& row : rows) json += (json.size() == 1 ? "" : ", ") + row;
  return json + "]";
}

}  // namespace evenkeel::tests
