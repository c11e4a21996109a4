// findAndModify: passed through where one shard can do it, else by choice.
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/match/filter.h"
#include "query/project/projection.h"
#include "query/request/find_and_modify_request.h"
#include "router/cursor/client_cursor.h"
#include "router/ddl/ddl.h"
#include "router/query_context.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "router/transaction/statement.h"
#include "router/write/batch_writer.h"
#include "router/write/keyless.h"
#include "router/write/upsert.h"
#include "router/write/write.h"
#include "txn/transaction_record.h"

namespace evenkeel::router::write {
namespace {

using query::FindAndModifyRequest;

// One command under way. Lives in the handler's frame.
struct Run {
  CommandContext& context;
  std::string ns;
  FindAndModifyRequest request;
  std::optional<int32_t> id;  // of the statement, in a retryable command
};

UpsertParts PartsOf(const FindAndModifyRequest& request) {
  return {request.query, request.let, request.update, request.array_filters};
}

// The command for a shard, without its upsert where the router sees to that.
wire::Message MakeCommand(const Run& run, const catalog::Route& route, wire::ShardEnvelope envelope,
                          bool with_upsert) {
  const CommandContext& context = run.context;
  bson::Builder body =
      StartCommand("findAndModify", route.entry->name(), route.entry->database(), &context.request);
  AppendFieldsExcept(body, context.body(), {"upsert", "stmtId"});
  if (with_upsert && run.request.upsert) body.Append("upsert", true);
  bson::Builder ids;
  if (run.id) ids.Append("0", *run.id);
  const bson::Document id_list = ids.Finish();
  if (run.id && *run.id != 0) envelope.statements = id_list;
  wire::AppendEnvelope(body, envelope);
  return MakeMessage(body.Finish(), context.request.message.owner);
}

bson::Document NothingFound(const FindAndModifyRequest& request) {
  bson::Builder reply;
  reply.OpenDocument("lastErrorObject").Append("n", int32_t{0});
  if (!request.remove) reply.Append("updatedExisting", false);
  reply.Close().AppendNull("value");
  return reply.Finish();
}

// The reply to an upsert that has inserted `document`.
absl::StatusOr<bson::Document> InsertedReply(const Run& run, bson::View document) {
  bson::Builder reply;
  reply.OpenDocument("lastErrorObject")
      .Append("n", int32_t{1})
      .Append("updatedExisting", false)
      .Append("upserted", document["_id"])
      .Close();
  if (!run.request.return_new) {
    reply.AppendNull("value");
  } else if (run.request.fields.empty()) {
    reply.Append("value", document);
  } else {
    const auto query_context =
        MakeQueryContext(run.context.router, run.context.times, run.ns, run.request.let);
    EVENKEEL_ASSIGN_OR_RETURN(
        const query::Projection projection,
        query::Projection::Parse(run.request.fields, query::ProjectionKind::kFind, *query_context));
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Document shown, projection.Apply(document));
    reply.Append("value", shown);
  }
  return reply.Finish();
}

// Reads the document that an earlier attempt of an upsert has inserted.
Awaitable<absl::StatusOr<bson::Document>> FetchById(const Run& run, RoutePtr route,
                                                    bson::Value id) {
  bson::Builder query;
  query.Append("_id", id);
  const bson::Document filter = query.Finish();
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const Targets targets,
      TargetStatement(run.context.router, run.context.times, *route, filter, {}, {}));
  bson::Builder body =
      StartCommand("find", route->entry->name(), route->entry->database(), nullptr);
  body.Append("filter", filter).Append("limit", int64_t{1}).Append("singleBatch", true);
  wire::AppendEnvelope(body, EnvelopeOf(*route, run.context.times));
  const wire::Message message = MakeMessage(body.Finish());
  std::vector<ShardCall> calls;
  for (const ShardId shard : targets.shards) calls.push_back({shard, message});
  const auto replies =
      co_await run.context.router.cluster->SendAll(std::move(calls), run.context.scope());
  for (const auto& reply : replies) {
    if (!reply.ok()) co_return reply.status();
    EVENKEEL_CO_ASSIGN_OR_RETURN(const CursorView cursor, ReadCursor(reply->body));
    const bson::Value row = cursor.batch.Front().value;
    if (row.Is(bson::Type::kObject)) co_return bson::Document(row.AsDocument());
  }
  co_return filter;  // gone since: its _id is what is known of it
}

// The reply for a record: as it was given, or made anew for an upsert that was carried out as an
// update.
Awaitable<CommandResult> ReplyOfRecord(const Run& run, RoutePtr route, KeylessOutcome outcome) {
  if (outcome.kind != kRecordOfUpdate) co_return std::move(outcome.reply);
  const bson::Value upserted = outcome.reply["upserted"];
  if (!upserted.Is(bson::Type::kArray)) {
    co_return MakeError(ErrorCode::kIncompleteTransactionHistory,
                        "the statement was carried out as another command");
  }
  const bson::Value id = upserted.AsDocument().Front().value.AsDocument()["_id"];
  if (!run.request.return_new) {
    bson::Builder known;
    known.Append("_id", id);
    co_return InsertedReply(run, known.Finish());
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document document, co_await FetchById(run, route, id));
  co_return InsertedReply(run, document);
}

KeylessStatement KeylessOf(const Run& run, RoutePtr route, const Targets& targets) {
  KeylessStatement statement;
  statement.route = route;
  statement.targets = targets;
  statement.filter = run.request.query;
  statement.sort = run.request.sort;
  statement.collation = run.request.collation;
  statement.let = run.request.let;
  statement.hint = run.request.hint;
  statement.retryable_id = run.id;
  statement.make = [&run, route](const wire::ShardEnvelope& envelope) {
    return MakeCommand(run, *route, envelope, false);
  };
  return statement;
}

Awaitable<CommandResult> RunUpsert(const Run& run, RoutePtr route) {
  CommandContext& context = run.context;
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const bson::Document document,
      BuildUpsertDocument(context.router, context.times, *route, PartsOf(run.request)));
  const auto inserted = co_await InsertUpsert(context, route, document, run.id);
  EVENKEEL_CO_RETURN_IF_ERROR(inserted.status());
  co_return InsertedReply(run, document);
}

// Where the shard is not known. Within a transaction of its own no other attempt does the same.
Awaitable<CommandResult> RunChosen(const Run& run, RoutePtr route, const Targets& targets) {
  CommandContext& context = run.context;
  const KeylessStatement statement = KeylessOf(run, route, targets);
  const bool own = context.transaction && context.transaction->is_statement();
  if (own && (run.id || run.request.upsert)) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(auto record,
                                 co_await BeginKeyless(context, statement, run.request.upsert));
    if (record) co_return co_await ReplyOfRecord(run, route, *std::move(record));
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(KeylessOutcome outcome, co_await RunKeyless(context, statement));
  if (outcome.done) co_return std::move(outcome.reply);
  if (run.request.upsert) co_return co_await RunUpsert(run, route);
  if (own) context.transaction->discarded = true;
  co_return NothingFound(run.request);
}

// A step of the command as a transaction of its own.
template <typename Step>
Awaitable<CommandResult> RunAsOwn(const Run& run, std::string turn, Step step) {
  CommandResult result;
  const absl::Status status = co_await RunAsTransaction(
      run.context, std::move(turn), [&result, &step]() -> Awaitable<absl::Status> {
        result = co_await step();
        co_return result.status();
      });
  if (!status.ok()) co_return status;
  co_return result;
}

Awaitable<CommandResult> RunOnShard(const Run& run, RoutePtr route, ShardId shard) {
  ShardCall call{shard, MakeCommand(run, *route, EnvelopeOf(*route, run.context.times), true)};
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const wire::Message reply,
      co_await run.context.router.cluster->Send(std::move(call), run.context.scope()));
  co_return ReplyFields(reply.body);
}

// One attempt with one route.
Awaitable<CommandResult> RunOnce(const Run& run, RoutePtr route) {
  const FindAndModifyRequest& request = run.request;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Targets targets,
                               TargetStatement(run.context.router, run.context.times, *route,
                                               request.query, request.collation, request.let));
  const bool one_shard = targets.shards.size() == 1;
  if (one_shard && (!request.upsert || KeepsShardKey(*route, PartsOf(request)))) {
    co_return co_await RunOnShard(run, route, targets.shards[0]);
  }
  if (run.context.transaction || (!request.upsert && !run.id)) {
    co_return co_await RunChosen(run, route, targets);
  }
  co_return co_await RunAsOwn(run, TurnOf(run.ns, request.query, request.sort, request.upsert),
                              [&] { return RunChosen(run, route, targets); });
}

absl::Status CheckAbsent(const Run& run) {
  const auto query_context =
      MakeQueryContext(run.context.router, run.context.times, run.ns, run.request.let);
  EVENKEEL_RETURN_IF_ERROR(query::Filter::Parse(run.request.query, *query_context).status());
  if (run.request.remove) return absl::OkStatus();
  return query::Update::Parse(run.request.update, run.request.array_filters, *query_context)
      .status();
}

Awaitable<CommandResult> RunWithRoutes(const Run& run) {
  CommandContext& context = run.context;
  RouteRetry retry(context.router, run.ns, context.scope());
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(RoutePtr route, co_await retry.Route());
    if (!route && !run.request.upsert) {
      EVENKEEL_CO_RETURN_IF_ERROR(CheckAbsent(run));
      co_return NothingFound(run.request);
    }
    if (!route) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(
          route, co_await ddl::EnsureCollection(context.router, run.ns, context.request.deadline,
                                                context.cancelled));
      if (context.transaction) context.transaction->NoteCreated(run.ns);
    }
    if (route->entry->kind == catalog::CollectionKind::kView) co_return ViewError(run.ns);
    CommandResult result = co_await RunOnce(run, route);
    if (CodeOf(result.status()) == txn::kWouldChangeOwningShard && !context.transaction) {
      // Its document moves to another shard.
      result = co_await RunAsOwn(run, {}, [&] { return RunOnce(run, route); });
    }
    if (!retry.IsStale(result.status())) co_return result;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

}  // namespace

Awaitable<CommandResult> FindAndModifyCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::string ns, context.Namespace());
  EVENKEEL_CO_RETURN_IF_ERROR(CheckWritable(ns));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const FindAndModifyRequest request,
                               query::ParseFindAndModify(context.body()));
  Run run{context, std::move(ns), request, std::nullopt};
  if (context.request.is_retryable_write()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                                 StatementIds(request.stmt_id, {}, 1));
    run.id = ids.empty() ? 0 : ids[0];
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(bson::Document reply, co_await RunWithRoutes(run));
  const auto concern = WriteConcernError(context.request.generic.write_concern);
  if (!concern) co_return reply;
  bson::Builder with_concern(reply.view());
  with_concern.Append("writeConcernError", *concern);
  co_return with_concern.Finish();
}

}  // namespace evenkeel::router::write
