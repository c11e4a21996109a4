// Builds and sends conditional batches over config.*.
#include "router/ddl/catalog_batch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/router.h"

namespace evenkeel::router::ddl {
namespace {

constexpr ShardId kCatalogShard{0};
constexpr std::string_view kIdSequence = "ids";
// So that not every change of the catalog waits for the sequence too; what a router has not given
// out when it ends is never used.
constexpr uint64_t kIdsPerTurn = 64;
constexpr int kAttemptsMax = 100;  // of two routers that take ids at once

bson::Builder Row(CollectionId collection) {
  bson::Builder row;
  row.Append("c", static_cast<int64_t>(collection.value));
  return row;
}

bson::Document ToArray(const std::vector<bson::Document>& rows) {
  bson::Builder array;
  bson::ArrayAppender appender(array);
  for (const bson::Document& row : rows) appender.Add(row);
  return array.Finish();
}

std::optional<uint64_t> TakeFree(FreeIds& free, uint64_t count) {
  absl::MutexLock lock(&free.mutex);
  if (free.end - free.next < count) return std::nullopt;
  return std::exchange(free.next, free.next + count);
}

void SetFree(FreeIds& free, uint64_t next, uint64_t end) {
  absl::MutexLock lock(&free.mutex);
  free.next = next;
  free.end = end;
}

}  // namespace

CatalogBatch& CatalogBatch::Expect(CollectionId collection, std::string_view id, bool exists) {
  expect_.push_back(Row(collection).Append("_id", id).Append("exists", exists).Finish());
  return *this;
}

CatalogBatch& CatalogBatch::ExpectVersion(CollectionId collection, std::string_view id,
                                          int64_t version) {
  expect_.push_back(Row(collection).Append("_id", id).Append("version", version).Finish());
  return *this;
}

CatalogBatch& CatalogBatch::Put(CollectionId collection, bson::View document) {
  writes_.push_back(Row(collection).Append("_id", document["_id"]).Append("d", document).Finish());
  return *this;
}

CatalogBatch& CatalogBatch::PutOnce(CollectionId collection, bson::View document) {
  writes_.push_back(Row(collection)
                        .Append("_id", document["_id"])
                        .Append("d", document)
                        .Append("once", true)
                        .Finish());
  return *this;
}

CatalogBatch& CatalogBatch::Remove(CollectionId collection, bson::Value id) {
  writes_.push_back(Row(collection).Append("_id", id).Finish());
  return *this;
}

CatalogBatch& CatalogBatch::Remove(CollectionId collection, std::string_view id) {
  writes_.push_back(Row(collection).Append("_id", id).Finish());
  return *this;
}

CatalogBatch& CatalogBatch::AddWrites(bson::View writes) {
  for (const auto& [key, row] : writes) writes_.emplace_back(row.AsDocument());
  return *this;
}

bson::Document CatalogBatch::Writes() const { return ToArray(writes_); }

Awaitable<absl::Status> CatalogBatch::Commit(RouterState& router, absl::Time deadline) const {
  bson::Builder body;
  body.Append("_commitCatalog", int32_t{1})
      .AppendArray("expect", ToArray(expect_))
      .AppendArray("writes", Writes());
  const auto reply = co_await router.cluster->Call(kCatalogShard, body.Finish(), deadline, {});
  co_return reply.status();
}

Awaitable<absl::StatusOr<uint64_t>> AllocateIds(RouterState& router, uint64_t count) {
  if (const auto first = TakeFree(*router.free_ids, count)) co_return *first;
  const uint64_t taken = std::max(count, kIdsPerTurn);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> rows,
                                 co_await ReadConfig(router, "sequences", ById(kIdSequence), {}));
    const bson::Value version = rows.empty() ? bson::Value() : rows.front()["version"];
    const uint64_t next = version.Is(bson::Type::kInt64) ? static_cast<uint64_t>(version.AsInt64())
                                                         : catalog::kFirstUserId;
    bson::Builder row;
    row.Append("_id", kIdSequence).Append("version", static_cast<int64_t>(next + taken));
    CatalogBatch batch;
    if (rows.empty()) {
      batch.Expect(catalog::kConfigSequences, kIdSequence, false);
    } else {
      batch.ExpectVersion(catalog::kConfigSequences, kIdSequence, static_cast<int64_t>(next));
    }
    const absl::Status status =
        co_await batch.Put(catalog::kConfigSequences, row.Finish().view()).Commit(router);
    if (status.ok()) {
      SetFree(*router.free_ids, next + count, next + taken);
      co_return next;
    }
    if (CodeOf(status) != ErrorCode::kConflictingOperationInProgress) co_return status;
  }
  co_return MakeError(ErrorCode::kConflictingOperationInProgress,
                      "ids for new collections could not be taken");
}

}  // namespace evenkeel::router::ddl
