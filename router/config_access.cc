// find and update on the collections of `config`.
#include "router/config_access.h"

#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/check.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/cursor/client_cursor.h"
#include "router/cursor/shard_cursor.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/write/results.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::router {
namespace {

constexpr ShardId kCatalogShard{0};

wire::ShardEnvelope ConfigEnvelope(std::string_view collection) {
  const auto entry = catalog::FindConfigCollection("config." + std::string(collection));
  EVENKEEL_CHECK(entry != nullptr);
  wire::ShardEnvelope envelope;
  envelope.collection = entry->id;
  envelope.version = entry->version;
  return envelope;
}

absl::Status TakeRows(bson::View reply, ShardCursor& cursor, std::vector<bson::Document>& rows) {
  EVENKEEL_ASSIGN_OR_RETURN(const CursorView view, ReadCursor(reply));
  cursor.id = view.id;
  for (const auto& [key, row] : view.batch) {
    if (row.Is(bson::Type::kObject)) rows.emplace_back(row.AsDocument());
  }
  return absl::OkStatus();
}

}  // namespace

Awaitable<absl::StatusOr<std::vector<bson::Document>>> ReadConfig(RouterState& router,
                                                                  std::string_view collection,
                                                                  bson::Document filter,
                                                                  CallScope scope) {
  bson::Builder body = StartCommand("find", collection, "config", nullptr);
  body.Append("filter", filter);
  body.OpenDocument("sort").Append("_id", int32_t{1}).Close();
  wire::AppendEnvelope(body, ConfigEnvelope(collection));
  ShardCall call{kCatalogShard, MakeMessage(body.Finish())};
  scope.transaction = nullptr;  // the catalog is not the client's to have a snapshot of
  ShardCursor cursor{kCatalogShard, 0, "config." + std::string(collection)};
  std::vector<bson::Document> rows;
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply,
                                 co_await router.cluster->Send(std::move(call), scope));
    EVENKEEL_CO_RETURN_IF_ERROR(TakeRows(reply.body, cursor, rows));
    if (cursor.id == 0) co_return rows;
    call = GetMoreCall(cursor, std::nullopt);
  }
}

Awaitable<absl::Status> UpsertConfig(RouterState& router, std::string_view collection,
                                     bson::Document query, bson::Document update, CallScope scope) {
  bson::Builder body = StartCommand("update", collection, "config", nullptr);
  body.OpenArray("updates").OpenDocument("0");
  body.Append("q", query).Append("u", update).Append("upsert", true).Close().Close();
  wire::AppendEnvelope(body, ConfigEnvelope(collection));
  ShardCall call{kCatalogShard, MakeMessage(body.Finish())};
  scope.transaction = nullptr;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply,
                               co_await router.cluster->Send(std::move(call), std::move(scope)));
  co_return write::FirstWriteError(reply.body);
}

bson::Document ById(std::string_view id) {
  bson::Builder query;
  query.Append("_id", id);
  return query.Finish();
}

bson::Document OfDatabase(std::string_view database) {
  bson::Builder query;
  query.OpenDocument("_id");
  // '/' follows '.' in byte order, so this is every namespace that begins with "database.".
  query.Append("$gte", std::string(database) + ".").Append("$lt", std::string(database) + "/");
  query.Close();
  return query.Finish();
}

}  // namespace evenkeel::router
