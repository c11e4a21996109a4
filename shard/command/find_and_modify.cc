// findAndModify: one document changed or removed, its image returned.
#include "shard/command/find_and_modify.h"

#include <optional>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/project/projection.h"
#include "query/request/find_and_modify_request.h"
#include "shard/command/retry_log.h"
#include "shard/command/write_one.h"

namespace evenkeel::shard {
namespace {

// {lastErrorObject, value} of an outcome. `image` is missing for "no document".
bson::Document MakeReply(const query::FindAndModifyRequest& request, const WriteOneOutcome& outcome,
                         const query::Projection* projection) {
  const bool touched = outcome.matched || outcome.inserted();
  bson::Builder reply;
  reply.OpenDocument("lastErrorObject").Append("n", touched ? 1 : 0);
  if (!request.remove) reply.Append("updatedExisting", outcome.matched);
  if (outcome.inserted()) reply.Append("upserted", outcome.upserted_id);
  reply.Close();
  const bson::Document& image = request.return_new ? outcome.after : outcome.before;
  if (!touched || image.empty()) {
    reply.AppendNull("value");
  } else if (projection == nullptr) {
    reply.Append("value", image);
  } else if (auto projected = projection->Apply(image.view()); projected.ok()) {
    reply.Append("value", *projected);
  } else {
    reply.AppendNull("value");
  }
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> FindAndModifyCommand(CommandContext& context) {
  ShardService& service = context.service;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*service.catalog(), envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RetryLog retry, RetryLog::FromCommand(context, envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::FindAndModifyRequest request,
                               query::ParseFindAndModify(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto query_context, MakeQueryContext(context, collection));
  std::optional<query::Projection> projection;
  if (!request.fields.empty()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        projection,
        query::Projection::Parse(request.fields, query::ProjectionKind::kFind, *query_context));
  }
  const StatementSpec spec{request.query, request.update, request.array_filters,
                           request.sort,  request.hint,   request.upsert};
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto statement,
                               WriteStatement::Compile(context, collection, spec));

  WriteOneOptions options;
  options.target = std::string(envelope.target);
  options.images = true;
  options.kind = txn::StatementKind::kFindAndModify;
  const query::Projection* fields = projection ? &*projection : nullptr;
  options.stored_reply = [&](const WriteOneOutcome& outcome) {
    return MakeReply(request, outcome, fields);
  };
  CommandWrites writes;
  const auto outcome = co_await WriteOne(context, *statement, retry, std::move(options), &writes);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await writes.Durable());
  EVENKEEL_CO_RETURN_IF_ERROR(outcome.status());
  if (outcome->replayed) co_return outcome->stored.reply;
  bson::Builder reply(MakeReply(request, *outcome, fields).view());
  if (outcome->missed) reply.Append("missed", true);
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
