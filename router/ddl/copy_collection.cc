// Moves documents batch by batch from one shard to all.
#include "router/ddl/copy_collection.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/status.h"
#include "router/cluster.h"
#include "router/cursor/client_cursor.h"
#include "router/cursor/shard_cursor.h"
#include "router/ddl/entries.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router::ddl {
namespace {

constexpr int32_t kBatchRows = 1000;

bson::Document CopyInBody(const catalog::CollectionEntry& into, bson::View sessions) {
  bson::Builder body;
  body.Append("_copyIn", int32_t{1}).AppendArray("sessions", sessions);
  wire::AppendEnvelope(body, {.collection = into.id, .version = into.version});
  return body.Finish();
}

// One batch of rows, split by the shard that shall own them. The views live as long as `keep`.
absl::StatusOr<std::vector<ShardCall>> Split(bson::View rows, std::shared_ptr<const void> keep,
                                             const catalog::CollectionEntry& into,
                                             const catalog::Assignment& assignment) {
  std::map<ShardId, std::vector<bson::View>> parts;
  for (const auto& [key, row] : rows) {
    EVENKEEL_ASSIGN_OR_RETURN(const int64_t hash, into.shard_key->HashOf(row.AsDocument()));
    parts[assignment.OwnerOf(hash)].push_back(row.AsDocument());
  }
  std::vector<ShardCall> calls;
  for (auto& [shard, documents] : parts) {
    wire::Message message = MakeMessage(CopyInBody(into, bson::View()), keep);
    message.sequences.push_back({"documents", std::move(documents)});
    calls.push_back({shard, std::move(message)});
  }
  return calls;
}

Awaitable<absl::Status> SendAll(RouterState& router, std::vector<ShardCall> calls) {
  for (const auto& reply :
       co_await router.cluster->CallAll(std::move(calls), absl::InfiniteFuture(), {})) {
    EVENKEEL_CO_RETURN_IF_ERROR(reply.status());
  }
  co_return absl::OkStatus();
}

Awaitable<absl::Status> CopyDocuments(RouterState& router, const catalog::CollectionEntry& from,
                                      const catalog::CollectionEntry& into,
                                      const catalog::Assignment& assignment) {
  bson::Builder find;
  find.Append("find", from.name()).Append("batchSize", kBatchRows).Append("$db", from.database());
  wire::AppendEnvelope(find, {.collection = from.id, .version = from.version});
  ShardCall call{from.primary, MakeMessage(find.Finish())};
  ShardCursor cursor{from.primary, 0, from.ns};
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply,
                                 co_await router.cluster->Send(std::move(call), {}));
    EVENKEEL_CO_ASSIGN_OR_RETURN(const CursorView view, ReadCursor(reply.body));
    EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<ShardCall> calls,
                                 Split(view.batch, reply.owner, into, assignment));
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SendAll(router, std::move(calls)));
    cursor.id = view.id;
    if (cursor.id == 0) co_return absl::OkStatus();
    call = GetMoreCall(cursor, kBatchRows);
  }
}

// A retry finds its result on whichever shard it is routed to now.
Awaitable<absl::Status> CopySessions(RouterState& router, const catalog::CollectionEntry& from,
                                     const catalog::CollectionEntry& into) {
  bson::Builder body;
  body.Append("_copySessions", int32_t{1});
  wire::AppendEnvelope(body, {.collection = from.id, .version = from.version});
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document rows,
      co_await router.cluster->Call(from.primary, body.Finish(), absl::InfiniteFuture(), {}));
  std::vector<ShardCall> calls;
  for (const ShardId shard : router.cluster->AllShards()) {
    wire::Message message = MakeMessage(CopyInBody(into, rows["rows"].AsDocument()));
    message.sequences.push_back({"documents", {}});
    calls.push_back({shard, std::move(message)});
  }
  co_return co_await SendAll(router, std::move(calls));
}

}  // namespace

Awaitable<absl::Status> CopyCollection(RouterState& router, catalog::CollectionEntry from,
                                       catalog::CollectionEntry into) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto assignment, co_await DefaultAssignment(router));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await CopyDocuments(router, from, into, *assignment));
  co_return co_await CopySessions(router, from, into);
}

}  // namespace evenkeel::router::ddl
