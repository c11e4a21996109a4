// Makes and places the documents of upserts.
#include "router/write/upsert.h"

#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/request/update_request.h"
#include "router/query_context.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/target.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::router::write {
namespace {

std::string_view FirstPart(std::string_view path) { return path.substr(0, path.find('.')); }

// True when an operator of the update names the field or something around or in it.
bool Touches(bson::View update, std::string_view field) {
  const std::string_view top = FirstPart(field);
  for (const auto& [name, operand] : update) {
    if (!name.starts_with('$') || !operand.Is(bson::Type::kObject)) return true;
    for (const auto& [path, value] : operand.AsDocument()) {
      if (FirstPart(path) == top) return true;
      // $rename writes what its operand's value names.
      if (value.Is(bson::Type::kString) && name == "$rename" &&
          FirstPart(value.AsString()) == top) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<bson::Document> BuildUpsertDocument(const RouterState& router,
                                                   const wire::CommandTimes& times,
                                                   const catalog::Route& route,
                                                   const UpsertParts& parts) {
  const auto context = MakeQueryContext(router, times, route.entry->ns, parts.let);
  if (!parts.constants.empty()) context->let = query::WithConstants(parts.constants, parts.let);
  EVENKEEL_ASSIGN_OR_RETURN(const query::Filter filter,
                            query::Filter::Parse(parts.filter, *context));
  EVENKEEL_ASSIGN_OR_RETURN(const query::Update update,
                            query::Update::Parse(parts.update, parts.array_filters, *context));
  EVENKEEL_ASSIGN_OR_RETURN(bson::Document document, update.BuildUpsert(filter));
  if (document.SizeBytes() > static_cast<size_t>(limits::kDocumentBytesMax)) {
    return Error(ErrorCode::kBSONObjectTooLarge,
                 "the document of the upsert is too large: {} bytes, max size: {}",
                 document.SizeBytes(), limits::kDocumentBytesMax);
  }
  return document;
}

bool KeepsShardKey(const catalog::Route& route, const UpsertParts& parts) {
  if (!route.assignment) return true;
  const std::string& field = route.entry->shard_key->hashed_field().dotted();
  const auto targets = TargetAtOnce(route, parts.filter, {});
  if (!targets || !targets->by_key) return false;
  // A replacement has the `_id` of the filter, or it is refused.
  if (field == "_id") return true;
  return parts.update.Is(bson::Type::kObject) && !parts.update.AsDocument().empty() &&
         !Touches(parts.update.AsDocument(), field);
}

Awaitable<absl::StatusOr<bson::Document>> InsertUpsert(CommandContext& context, RoutePtr route,
                                                       bson::View document,
                                                       std::optional<int32_t> retryable_id) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const ShardId shard, TargetDocument(*route, document));
  bson::Builder body = StartCommand("update", route->entry->name(), route->entry->database(),
                                    retryable_id ? &context.request : nullptr);
  // A filter that nothing matches and the whole document as replacement: an insert that the shard
  // records as an upsert.
  body.OpenArray("updates").OpenDocument("0").OpenDocument("q").OpenDocument("_id");
  body.OpenArray("$in").Close().Close().Close();
  body.Append("u", document).Append("upsert", true).Close().Close();
  body.Append("bypassDocumentValidation", context.body()["bypassDocumentValidation"]);
  bson::Builder ids;
  if (retryable_id) ids.Append("0", *retryable_id);
  const bson::Document id_list = ids.Finish();
  wire::ShardEnvelope envelope = EnvelopeOf(*route, context.times);
  if (retryable_id) envelope.statements = id_list;
  wire::AppendEnvelope(body, envelope);
  ShardCall call{shard, MakeMessage(body.Finish())};
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::Message reply, co_await context.router.cluster->Send(
                                                              std::move(call), context.scope()));
  EVENKEEL_CO_RETURN_IF_ERROR(FirstWriteError(reply.body));
  co_return ReplyFields(reply.body);
}

}  // namespace evenkeel::router::write
