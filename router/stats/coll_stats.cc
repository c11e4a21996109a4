// collStats, dbStats and validate.
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/stats/figures.h"
#include "router/stats/stats.h"
#include "router/write/batch_writer.h"

namespace evenkeel::router::stats {
namespace {

// What collStats says of a collection that does not exist.
bson::Document AbsentReply(std::string_view ns, int64_t scale) {
  bson::Builder reply;
  reply.Append("ns", ns);
  AppendFigures(reply, Figures(), scale);
  reply.OpenDocument("indexDetails").Close();
  return reply.Finish();
}

int32_t ChunkCount(const catalog::Route& route) {
  return route.assignment ? static_cast<int32_t>(route.assignment->ranges().size()) : 1;
}

bson::Document CollStatsReply(const catalog::Route& route, const std::vector<ShardFigures>& parts,
                              int64_t scale) {
  const catalog::CollectionEntry& entry = *route.entry;
  const bson::Value capped = entry.options["capped"];
  bson::Builder reply;
  reply.Append("sharded", entry.sharded());
  reply.Append("capped", !capped.missing() && bson::Truthy(capped));
  reply.Append("ns", entry.ns);
  AppendFigures(reply, Sum(parts), scale);
  reply.OpenDocument("indexDetails").Close();
  reply.Append("nchunks", ChunkCount(route)).OpenDocument("shards");
  for (const ShardFigures& part : parts) {
    reply.OpenDocument(Cluster::ShardName(part.shard)).Append("ns", entry.ns);
    AppendFigures(reply, part.figures, scale);
    reply.Close();
  }
  reply.Close();
  if (!entry.sharded()) reply.Append("primary", Cluster::ShardName(entry.primary));
  return reply.Finish();
}

// dbStats' options; the space that could be freed is not measured.
struct DbStatsRequest {
  bson::Value scale;
  bool free_storage = false;
};
constexpr query::FieldRule kDbStatsFields[] = {
    {"scale", query::fields::Any<&DbStatsRequest::scale>},
    {"freeStorage", query::fields::SafeBool<&DbStatsRequest::free_storage>},
};

struct DatabaseSums {
  Figures figures;
  int64_t collections = 0, views = 0, indexes = 0;
};

Awaitable<absl::StatusOr<DatabaseSums>> SumDatabase(CommandContext& context,
                                                    std::string_view database) {
  DatabaseSums sums;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<catalog::CollectionEntry> entries,
                               co_await EntriesOf(context, database));
  for (const catalog::CollectionEntry& entry : entries) {
    if (entry.kind == catalog::CollectionKind::kView) {
      ++sums.views;
      continue;
    }
    ++sums.collections;
    sums.indexes += static_cast<int64_t>(entry.indexes.size());
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<ShardFigures> parts,
                                 co_await FiguresOf(context, entry.ns));
    sums.figures.Add(Sum(parts));
  }
  co_return sums;
}

// Adds the shards' answers to validate up.
class ValidationSum {
 public:
  void Add(ShardId shard, bson::View reply) {
    valid_ = valid_ && IsTrue(reply["valid"]);
    records_ += Number(reply["nrecords"]);
    invalid_ += Number(reply["nInvalidDocuments"]);
    if (const bson::Value keys = reply["keysPerIndex"]; keys.Is(bson::Type::kObject)) {
      for (const auto& [name, count] : keys.AsDocument()) keys_[std::string(name)] += Number(count);
    }
    AddTexts(shard, reply["errors"], errors_);
    AddTexts(shard, reply["warnings"], warnings_);
    raw_.emplace_back(shard, ReplyFields(reply));
  }

  bson::Document Reply(std::string_view ns) const {
    bson::Builder reply;
    reply.Append("ns", ns)
        .Append("nInvalidDocuments", invalid_)
        .Append("nrecords", records_)
        .Append("nIndexes", static_cast<int32_t>(keys_.size()))
        .OpenDocument("keysPerIndex");
    for (const auto& [name, count] : keys_) reply.Append(name, count);
    reply.Close().Append("valid", valid_).Append("repaired", false);
    AppendTexts(reply, "warnings", warnings_);
    AppendTexts(reply, "errors", errors_);
    reply.OpenDocument("raw");
    for (const auto& [shard, part] : raw_) reply.Append(Cluster::ShardName(shard), part);
    reply.Close();
    return reply.Finish();
  }

 private:
  static bool IsTrue(bson::Value value) { return !value.missing() && bson::Truthy(value); }
  static int64_t Number(bson::Value value) {
    return value.IsNumber() ? bson::ToInt64Truncated(value) : 0;
  }
  static void AddTexts(ShardId shard, bson::Value list, std::vector<std::string>& out) {
    if (!list.Is(bson::Type::kArray)) return;
    for (const auto& [key, text] : list.AsDocument()) {
      if (!text.Is(bson::Type::kString)) continue;
      out.push_back(Cluster::ShardName(shard) + ": " + std::string(text.AsString()));
    }
  }
  static void AppendTexts(bson::Builder& reply, std::string_view name,
                          const std::vector<std::string>& texts) {
    reply.OpenArray(name);
    bson::ArrayAppender array(reply);
    for (const std::string& text : texts) array.Add(text);
    reply.Close();
  }

  bool valid_ = true;
  int64_t records_ = 0, invalid_ = 0;
  std::map<std::string, int64_t> keys_;
  std::vector<std::string> errors_, warnings_;
  std::vector<std::pair<ShardId, bson::Document>> raw_;
};

Awaitable<CommandResult> ValidateOnShards(CommandContext& context, RoutePtr route) {
  const std::vector<ShardId> shards = route->Shards();
  std::vector<ShardCall> calls;
  for (const ShardId shard : shards) {
    calls.push_back({shard, ForwardCommand(context.request, EnvelopeOf(*route))});
  }
  const auto replies = co_await context.router.cluster->SendAll(std::move(calls), context.scope());
  ValidationSum sum;
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].ok()) co_return replies[i].status();
    sum.Add(shards[i], replies[i]->body);
  }
  co_return sum.Reply(route->entry->ns);
}

}  // namespace

Awaitable<CommandResult> CollStatsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const int64_t scale, ScaleOf(context.body()["scale"]));
  RouteRetry retry(context.router, ns, context.scope());
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    if (!route) co_return AbsentReply(ns, scale);
    if (route->entry->kind == catalog::CollectionKind::kView) co_return write::ViewError(ns);
    const auto parts = co_await AskShards(context, route);
    if (parts.ok()) co_return CollStatsReply(*route, *parts, scale);
    if (!retry.IsStale(parts.status())) co_return parts.status();
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

Awaitable<CommandResult> DbStatsCommand(CommandContext& context) {
  DbStatsRequest request;
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(
      context.body(), "dbStats", query::FieldScope::kCommand, kDbStatsFields, &request));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const int64_t scale, ScaleOf(request.scale));
  const std::string_view database = context.request.database;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const DatabaseSums sums, co_await SumDatabase(context, database));
  const Figures& figures = sums.figures;
  const auto scaled = [scale](int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(scale);
  };
  const double average = figures.count == 0 ? 0
                                            : static_cast<double>(figures.size_bytes) /
                                                  static_cast<double>(figures.count);
  bson::Builder reply;
  reply.Append("db", database)
      .Append("collections", sums.collections)
      .Append("views", sums.views)
      .Append("objects", figures.count)
      .Append("avgObjSize", average)
      .Append("dataSize", scaled(figures.size_bytes))
      .Append("storageSize", scaled(figures.storage_bytes))
      .Append("indexes", sums.indexes)
      .Append("indexSize", scaled(figures.index_bytes))
      .Append("totalSize", scaled(figures.storage_bytes + figures.index_bytes))
      .Append("scaleFactor", scale);
  co_return reply.Finish();
}

Awaitable<CommandResult> ValidateCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::string ns, context.Namespace());
  RouteRetry retry(context.router, ns, context.scope());
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    if (!route) {
      co_return Error(ErrorCode::kNamespaceNotFound, "Collection '{}' does not exist to validate.",
                      ns);
    }
    if (route->entry->kind == catalog::CollectionKind::kView) co_return write::ViewError(ns);
    CommandResult result = co_await ValidateOnShards(context, route);
    if (!retry.IsStale(result.status())) co_return result;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

}  // namespace evenkeel::router::stats
