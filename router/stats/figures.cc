// Asks shards for figures.
#include "router/stats/figures.h"

#include <utility>

#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/config_access.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router::stats {
namespace {

int64_t Number(bson::View reply, std::string_view field) {
  const bson::Value value = reply[field];
  return value.IsNumber() ? bson::ToInt64Truncated(value) : 0;
}

// A number as MongoDB's tools show it: an int where it fits.
void AppendNumber(bson::Builder& reply, std::string_view key, int64_t value) {
  if (value <= INT32_MAX) {
    reply.Append(key, static_cast<int32_t>(value));
  } else {
    reply.Append(key, value);
  }
}

}  // namespace

void Figures::Add(const Figures& other) {
  count += other.count;
  size_bytes += other.size_bytes;
  storage_bytes += other.storage_bytes;
  index_bytes += other.index_bytes;
  orphans += other.orphans;
  orphan_bytes += other.orphan_bytes;
  for (const auto& [name, bytes] : other.index_sizes) index_sizes[name] += bytes;
}

Figures Sum(const std::vector<ShardFigures>& parts) {
  Figures sum;
  for (const ShardFigures& part : parts) sum.Add(part.figures);
  return sum;
}

Awaitable<absl::StatusOr<std::vector<ShardFigures>>> AskShards(CommandContext& context,
                                                               RoutePtr route) {
  bson::Builder body;
  body.Append("_collStats", int32_t{1}).Append("$db", route->entry->database());
  wire::AppendEnvelope(body, EnvelopeOf(*route));
  const wire::Message message = MakeMessage(body.Finish());
  const std::vector<ShardId> shards = route->Shards();
  std::vector<ShardCall> calls;
  for (const ShardId shard : shards) calls.push_back({shard, message});
  const auto replies = co_await context.router.cluster->SendAll(std::move(calls), context.scope());
  std::vector<ShardFigures> all;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].ok()) co_return replies[i].status();
    const bson::View reply = replies[i]->body;
    ShardFigures part;
    part.shard = shards[i];
    part.figures.count = Number(reply, "count");
    part.figures.size_bytes = Number(reply, "size");
    part.figures.orphans = Number(reply, "numOrphanDocs");
    part.figures.orphan_bytes = Number(reply, "orphanBytes");
    part.figures.storage_bytes = Number(reply, "storageSize");
    part.figures.index_bytes = Number(reply, "totalIndexSize");
    if (const bson::Value sizes = reply["indexSizes"]; sizes.Is(bson::Type::kObject)) {
      for (const auto& [name, bytes] : sizes.AsDocument()) {
        part.figures.index_sizes[std::string(name)] =
            bytes.IsNumber() ? bson::ToInt64Truncated(bytes) : 0;
      }
    }
    all.push_back(std::move(part));
  }
  co_return all;
}

Awaitable<absl::StatusOr<std::vector<ShardFigures>>> FiguresOf(CommandContext& context,
                                                               std::string ns) {
  RouteRetry retry(context.router, std::move(ns), context.scope());
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    if (!route || route->entry->kind == catalog::CollectionKind::kView) {
      co_return std::vector<ShardFigures>();
    }
    auto figures = co_await AskShards(context, route);
    if (!retry.IsStale(figures.status())) co_return figures;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

Awaitable<absl::StatusOr<std::vector<catalog::CollectionEntry>>> EntriesOf(
    CommandContext& context, std::string_view database) {
  std::vector<catalog::CollectionEntry> entries;
  if (database == "config") {
    for (const auto& entry : catalog::ConfigCollections()) entries.push_back(*entry);
    co_return entries;
  }
  bson::Document filter = database.empty() ? bson::Document() : OfDatabase(database);
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> rows,
      co_await ReadConfig(context.router, "catalog", std::move(filter), context.scope()));
  for (const bson::Document& row : rows) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::CollectionEntry entry,
                                 catalog::CollectionEntry::FromBson(row));
    entries.push_back(std::move(entry));
  }
  co_return entries;
}

void AppendFigures(bson::Builder& reply, const Figures& figures, int64_t scale) {
  AppendNumber(reply, "size", figures.size_bytes / scale);
  AppendNumber(reply, "count", figures.count);
  if (figures.count > 0) {
    AppendNumber(reply, "avgObjSize", figures.size_bytes / figures.count);
  }
  AppendNumber(reply, "numOrphanDocs", figures.orphans);
  AppendNumber(reply, "storageSize", figures.storage_bytes / scale);
  AppendNumber(reply, "totalIndexSize", figures.index_bytes / scale);
  AppendNumber(reply, "totalSize", (figures.storage_bytes + figures.index_bytes) / scale);
  reply.OpenDocument("indexSizes");
  for (const auto& [name, bytes] : figures.index_sizes) AppendNumber(reply, name, bytes / scale);
  reply.Close();
  reply.Append("nindexes", static_cast<int32_t>(figures.index_sizes.size()));
  reply.Append("scaleFactor", static_cast<int32_t>(scale));
}

absl::StatusOr<int64_t> ScaleOf(bson::Value scale) {
  if (scale.IsNullish()) return 1;
  if (!scale.IsNumber()) return MakeError(ErrorCode::kTypeMismatch, "scale must be a number");
  const int64_t value = bson::ToInt64Truncated(scale);
  if (value < 1) return MakeError(ErrorCode::kBadValue, "scale has to be >= 1");
  return value;
}

}  // namespace evenkeel::router::stats
