// aggregate: targets the leading match, splits the pipeline, merges.
#include "router/read/aggregate.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "query/stage/pipeline.h"
#include "query/stage/stage.h"
#include "query/stage/table.h"
#include "router/cursor/forward_cursor.h"
#include "router/query_context.h"
#include "router/read/colocation.h"
#include "router/read/explain.h"
#include "router/read/foreign.h"
#include "router/read/read.h"
#include "router/read/scatter.h"
#include "router/read/sink.h"
#include "router/read/sources.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router::read {
namespace {

using CursorPtr = std::unique_ptr<ClientCursor>;

constexpr int kViewDepthMax = 20;               // as MongoDB's
constexpr int kPipelineDepthMax = 20;           // as MongoDB's
constexpr int64_t kWholeBatchRows = INT32_MAX;  // bounded by bytes only
constexpr std::string_view kNoCollection = "$cmd.aggregate";

std::unique_ptr<query::QueryContext> ContextOf(const CommandContext& context,
                                               const AggregateCall& call) {
  auto out = MakeQueryContext(context.router, context.times, call.ns, call.let);
  out->allow_disk_use = call.allow_disk_use.value_or(out->allow_disk_use);
  // A bad one was refused with the command.
  if (const auto collation = query::Collation::Get(call.collation); collation.ok()) {
    out->collation = *collation;
  }
  return out;
}

MergeOptions OptionsOf(const CommandContext& context, const AggregateCall& call) {
  MergeOptions options;
  options.ns = call.ns_shown;
  options.context = ContextOf(context, call);
  options.context->foreign = std::make_shared<query::ForeignReads>();
  options.foreign = MakeForeignServer(context.router, context.times, options.context->foreign,
                                      bson::Document(call.collation), call.depth);
  return options;
}

// The array without its first element.
bson::Document WithoutFirst(bson::View array) {
  bson::Builder builder;
  bson::ArrayAppender rest(builder);
  bool first = true;
  for (const auto& [key, value] : array) {
    if (!std::exchange(first, false)) rest.Add(value);
  }
  return builder.Finish();
}

// The whole pipeline at the router, over `rows`.
Awaitable<absl::StatusOr<CursorPtr>> RunHere(CommandContext& context, const AggregateCall& call,
                                             bson::View pipeline,
                                             std::vector<bson::Document> rows) {
  MergeOptions options = OptionsOf(context, call);
  EVENKEEL_CO_ASSIGN_OR_RETURN(options.pipeline,
                               query::Pipeline::Parse(pipeline, *options.context));
  bson::Builder reply;
  reply.OpenDocument("cursor").OpenArray("firstBatch");
  bson::ArrayAppender array(reply);
  for (const bson::Document& row : rows) array.Add(row);
  reply.Close().Append("id", int64_t{0}).Close();
  ShardStream stream;
  stream.reply = MakeMessage(reply.Finish());
  std::vector<ShardStream> streams;
  streams.push_back(std::move(stream));
  co_return co_await MergeStreams(context, std::move(options), std::move(streams));
}

// What the shards are asked. A merging stage needs all of its input, so their batches are as large
// as they can be.
wire::Message ShardAggregate(const CommandContext& context, const catalog::Route& route,
                             const AggregateCall& call, bson::View pipeline, bool merge,
                             std::optional<int64_t> batch_size,
                             const std::vector<wire::ForeignCollection>& foreign) {
  bson::Builder body =
      StartCommand("aggregate", route.entry->name(), route.entry->database(), &context.request);
  body.AppendArray("pipeline", pipeline).OpenDocument("cursor");
  if (batch_size) body.Append("batchSize", *batch_size);
  body.Close();
  if (!call.let.empty()) body.Append("let", call.let);
  if (!call.collation.empty()) body.Append("collation", call.collation);
  body.Append("hint", call.hint);
  if (call.allow_disk_use) body.Append("allowDiskUse", *call.allow_disk_use);
  wire::ShardEnvelope envelope = EnvelopeOf(route, context.times);
  envelope.merge = merge;
  wire::AppendEnvelope(body, envelope, foreign);
  return MakeMessage(body.Finish());
}

Awaitable<absl::StatusOr<CursorPtr>> RunOnShards(CommandContext& context, RoutePtr route,
                                                 const AggregateCall& call,
                                                 query::Pipeline& pipeline) {
  pipeline.Optimize();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<wire::ForeignCollection> foreign,
                               co_await JoinOnShards(context, *route, call.collation, pipeline));
  EVENKEEL_CO_ASSIGN_OR_RETURN(Targets targets,
                               TargetStatement(context.router, context.times, *route,
                                               pipeline.LeadingMatch(), call.collation, call.let));
  MergeOptions options = OptionsOf(context, call);
  wire::Message message;
  if (targets.shards.size() == 1 && !pipeline.NeedsRouter()) {
    message = ShardAggregate(context, *route, call, call.pipeline, false, call.batch_size, foreign);
  } else {
    query::SplitPipeline split = pipeline.Split();
    if (call.by_id && pipeline.IsRowByRow()) EVENKEEL_CO_RETURN_IF_ERROR(split.SortById());
    const std::optional<int64_t> batch_size =
        split.merge_part.empty() ? call.batch_size : kWholeBatchRows;
    message = ShardAggregate(context, *route, call, split.shard_part, true, batch_size, foreign);
    if (split.merge_kind == query::MergeKind::kSorted) {
      options.sort = std::move(split.merge_sort);
    }
    options.context->is_merge_part = true;
    options.context->internal = true;
    if (!split.merge_part.empty()) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(options.pipeline,
                                   query::Pipeline::Parse(split.merge_part, *options.context));
    }
  }
  auto streams = co_await OpenStreams(context, route, targets, std::move(message));
  ForgetIfStale(context, streams.status(), foreign);
  EVENKEEL_CO_RETURN_IF_ERROR(streams.status());
  co_return co_await MergeStreams(context, std::move(options), *std::move(streams));
}

// One attempt with one route.
Awaitable<absl::StatusOr<CursorPtr>> OpenOnce(CommandContext& context, RoutePtr route,
                                              const AggregateCall& call) {
  const auto query_context = ContextOf(context, call);
  EVENKEEL_CO_ASSIGN_OR_RETURN(query::Pipeline pipeline,
                               query::Pipeline::Parse(call.pipeline, *query_context));
  if (call.ns.ends_with(kNoCollection) && !pipeline.HasOwnSource() && !call.pipeline.empty()) {
    co_return Error(ErrorCode::kInvalidNamespace,
                    "{{aggregate: 1}} is not valid for '{}'; a collection is required.",
                    pipeline.FirstStageName());
  }
  if (pipeline.HasOwnSource()) {
    const auto& first_op = pipeline.stages().front()->op();
    if (first_op.whole_database && first_op.name != "$listSessions" &&
        !call.ns.ends_with(kNoCollection)) {
      co_return Error(ErrorCode::kInvalidNamespace,
                      "{} must be run against a database with {{aggregate: 1}}, not a collection",
                      first_op.name);
    }
    const Source source = FindSource(pipeline.FirstStageName());
    if (!source) co_return co_await RunHere(context, call, call.pipeline, {});
    const bson::Value first = call.pipeline.view().Front().value;
    SourceCall source_call{context, call.ns, first.AsDocument().Front().value};
    EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<bson::Document> rows,
                                 co_await source(std::move(source_call)));
    const bson::Document rest = WithoutFirst(call.pipeline);
    co_return co_await RunHere(context, call, rest, std::move(rows));
  }
  if (!route) co_return co_await RunHere(context, call, call.pipeline, {});
  co_return co_await RunOnShards(context, route, call, pipeline);
}

// The shard that can do it all alone.
struct OneShard {
  ShardId shard;
  std::vector<wire::ForeignCollection> foreign;  // that it reads, too
};

// The common case, passed through as it is: one shard, no view, nothing for the router to do.
Awaitable<CommandResult> ForwardAggregate(CommandContext& context, RoutePtr route,
                                          const AggregateCall& call, OneShard at,
                                          FirstBatch first) {
  wire::Message message;
  if (at.foreign.empty()) {
    message = ForwardCommand(context.request, EnvelopeOf(*route, context.times));
  } else {
    message =
        ShardAggregate(context, *route, call, call.pipeline, false, call.batch_size, at.foreign);
  }
  CommandResult result =
      co_await ForwardCursorCommand(context, route, at.shard, std::move(message), first);
  ForgetIfStale(context, result.status(), at.foreign);
  co_return result;
}

// Nothing when the router has something to do.
Awaitable<absl::StatusOr<std::optional<OneShard>>> SingleShard(CommandContext& context,
                                                               const catalog::Route& route,
                                                               const AggregateCall& call) {
  const auto query_context = ContextOf(context, call);
  EVENKEEL_CO_ASSIGN_OR_RETURN(query::Pipeline pipeline,
                               query::Pipeline::Parse(call.pipeline, *query_context));
  std::optional<OneShard> one;
  if (pipeline.HasOwnSource()) co_return one;
  pipeline.Optimize();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Targets targets,
                               TargetStatement(context.router, context.times, route,
                                               pipeline.LeadingMatch(), call.collation, call.let));
  if (targets.shards.size() != 1) co_return one;
  const bson::View collation =
      call.collation.empty() ? query::CollationOption(route.entry->options) : call.collation.view();
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<wire::ForeignCollection> foreign,
                               co_await JoinOnShards(context, route, collation, pipeline));
  if (!pipeline.NeedsRouter()) one.emplace(OneShard{targets.shards[0], std::move(foreign)});
  co_return one;
}

std::string_view FirstStageOf(bson::View pipeline) {
  const bson::Value first = pipeline.Front().value;
  return first.Is(bson::Type::kObject) ? first.AsDocument().Front().key : std::string_view();
}

std::string_view LastStageOf(bson::View pipeline) {
  std::string_view last;
  for (const auto& [key, stage] : pipeline) {
    last = stage.Is(bson::Type::kObject) ? stage.AsDocument().Front().key : std::string_view();
  }
  return last;
}

bool EndsInWrite(bson::View pipeline) {
  const std::string_view last = LastStageOf(pipeline);
  return last == "$out" || last == "$merge";
}

// The first stage, in the pipelines within it too, that no transaction may have; empty: none.
std::string_view ForbiddenStage(bson::View pipeline, int depth = 0) {
  for (const auto& [index, stage] : pipeline) {
    if (!stage.Is(bson::Type::kObject)) continue;
    const auto& [name, spec] = stage.AsDocument().Front();
    const query::stage::StageOp* row = query::stage::FindStage(name);
    if (row != nullptr && !row->allowed_in_txn) return name;
    if (!spec.Is(bson::Type::kObject) || depth == kPipelineDepthMax) continue;
    for (const auto& [field, value] : spec.AsDocument()) {
      if (!value.Is(bson::Type::kArray) || (field != "pipeline" && name != "$facet")) continue;
      const std::string_view found = ForbiddenStage(value.AsDocument(), depth + 1);
      if (!found.empty()) return found;
    }
  }
  return {};
}

// What a pipeline writes is no part of a transaction or a snapshot; nor is what describes the
// cluster part of a transaction.
absl::Status CheckStages(const CommandContext& context, bson::View pipeline) {
  if (!context.transaction) return absl::OkStatus();
  std::string_view stage;
  if (context.request.in_transaction()) {
    stage = ForbiddenStage(pipeline);
  } else if (EndsInWrite(pipeline)) {
    stage = LastStageOf(pipeline);
  }
  if (stage.empty()) return absl::OkStatus();
  return Error(ErrorCode::kOperationNotSupportedInTransaction,
               "Stage not supported inside of a multi-document transaction: {}", stage);
}

AggregateCall CallOf(const query::AggregateRequest& request, std::string ns) {
  AggregateCall call;
  call.ns = ns;
  call.ns_shown = std::move(ns);
  call.pipeline = bson::Document(request.pipeline);
  call.let = request.let;
  call.collation = bson::Document(request.collation);
  call.hint = request.hint;
  call.allow_disk_use = request.allow_disk_use;
  call.batch_size = request.batch_size;
  return call;
}

// A view's collation is part of it: what it is defined on does not add another one.
absl::Status TakeCollation(const catalog::CollectionEntry& view, AggregateCall* call) {
  EVENKEEL_ASSIGN_OR_RETURN(const query::Collation* given, query::Collation::Get(call->collation));
  EVENKEEL_ASSIGN_OR_RETURN(const query::Collation* own,
                            query::Collation::Get(query::CollationOption(view.options)));
  const bool same =
      given == own || (given && own && bson::CompareDocuments(given->spec(), own->spec()) == 0);
  if (!call->collation.empty() && !same) {
    return Error(ErrorCode::kOptionNotSupportedOnView,
                 "Cannot override a view's default collation: '{}'", view.ns);
  }
  bson::Builder simple;
  simple.Append("locale", "simple");
  call->collation = own ? own->spec() : simple.Finish();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AggregateCall> ResolveView(const catalog::CollectionEntry& view,
                                          AggregateCall call) {
  const bson::Value on = view.options["viewOn"], stages = view.options["pipeline"];
  if (!on.Is(bson::Type::kString)) {
    return Error(ErrorCode::kInternalError, "the view '{}' has no source", view.ns);
  }
  bson::Builder pipeline;
  bson::ArrayAppender array(pipeline);
  if (stages.Is(bson::Type::kArray)) {
    for (const auto& [key, stage] : stages.AsDocument()) array.Add(stage);
  }
  for (const auto& [key, stage] : call.pipeline.view()) array.Add(stage);
  EVENKEEL_RETURN_IF_ERROR(TakeCollation(view, &call));
  call.ns = std::string(view.database()).append(".").append(on.AsString());
  call.pipeline = pipeline.Finish();
  return call;
}

Awaitable<absl::StatusOr<CursorPtr>> OpenAggregate(CommandContext& context, AggregateCall call) {
  if (call.depth > kPipelineDepthMax) {
    co_return Error(Location(232), "pipelines within pipelines nest deeper than {}",
                    kPipelineDepthMax);
  }
  int depth = 0;
  RouteRetry retry(context.router, call.ns, context.scope());
  while (true) {
    RoutePtr route;
    if (!call.ns.ends_with(kNoCollection)) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(route, co_await retry.Route());
    }
    if (route && route->entry->kind == catalog::CollectionKind::kView) {
      if (++depth > kViewDepthMax) {
        co_return Error(ErrorCode::kViewDepthLimitExceeded, "views nest deeper than {} at '{}'",
                        kViewDepthMax, call.ns);
      }
      if (FirstStageOf(call.pipeline) == "$collStats") {
        const auto query_context = ContextOf(context, call);
        EVENKEEL_CO_RETURN_IF_ERROR(query::Pipeline::Parse(call.pipeline, *query_context).status());
        co_return Error(ErrorCode::kCommandNotSupportedOnView, "$collStats of the view '{}'",
                        call.ns);
      }
      EVENKEEL_CO_ASSIGN_OR_RETURN(call, ResolveView(*route->entry, std::move(call)));
      retry = RouteRetry(context.router, call.ns, context.scope());
      continue;
    }
    if (route && call.collation.empty()) {
      call.collation = bson::Document(query::CollationOption(route->entry->options));
    }
    auto cursor = co_await OpenOnce(context, route, call);
    if (!retry.IsStale(cursor.status())) co_return cursor;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

Awaitable<absl::StatusOr<std::vector<bson::Document>>> CollectAggregate(CommandContext& context,
                                                                        AggregateCall call) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(CursorPtr cursor, co_await OpenAggregate(context, std::move(call)));
  std::vector<bson::Document> rows;
  size_t size_bytes = 0;
  while (!cursor->exhausted()) {
    const auto reply = co_await cursor->Next({}, context.scope());
    absl::Status status = reply.status();
    if (status.ok()) {
      for (const auto& [key, row] :
           reply->view()["cursor"].AsDocument()["nextBatch"].AsDocument()) {
        rows.emplace_back(row.AsDocument());
        size_bytes += rows.back().SizeBytes();
      }
      if (size_bytes > static_cast<size_t>(limits::kDocumentBytesMax)) {
        status = MakeError(ErrorCode::kBSONObjectTooLarge, "the result is too large");
      }
    }
    if (!status.ok()) {
      co_await cursor->Close();
      co_return status;
    }
  }
  co_return rows;
}

Awaitable<CommandResult> AggregateCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::AggregateRequest request,
                               query::ParseAggregate(context.body()));
  std::string ns(context.request.database);
  if (request.whole_database) {
    ns.append(".").append(kNoCollection);
  } else {
    EVENKEEL_CO_ASSIGN_OR_RETURN(ns, context.Namespace());
  }
  if (request.explain && context.request.in_transaction()) {
    co_return MakeError(ErrorCode::kOperationNotSupportedInTransaction,
                        "Cannot run 'explain' in a multi-document transaction.");
  }
  if (request.explain && context.request.generic.write_concern.given) {
    co_return MakeError(ErrorCode::kFailedToParse,
                        "Aggregation explain does not support the 'writeConcern' option");
  }
  if (request.explain) co_return co_await Explain(context, context.body(), "queryPlanner");
  FirstBatch first;
  if (request.batch_size) first.rows = request.batch_size;
  AggregateCall call = CallOf(request, ns);
  EVENKEEL_CO_RETURN_IF_ERROR(CheckStages(context, call.pipeline));
  if (EndsInWrite(call.pipeline)) {
    // Its own errors come before those of the target.
    const auto query_context = ContextOf(context, call);
    EVENKEEL_CO_RETURN_IF_ERROR(query::Pipeline::Parse(call.pipeline, *query_context).status());
    co_return co_await AggregateInto(context, std::move(call));
  }
  RouteRetry retry(context.router, ns, context.scope());
  while (!request.whole_database) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    if (!route || route->entry->kind == catalog::CollectionKind::kView) break;
    EVENKEEL_CO_ASSIGN_OR_RETURN(auto one, co_await SingleShard(context, *route, call));
    if (!one) break;
    CommandResult result = co_await ForwardAggregate(context, route, call, *std::move(one), first);
    if (!retry.IsStale(result.status())) co_return result;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(CursorPtr cursor, co_await OpenAggregate(context, std::move(call)));
  co_return co_await BeginCursor(context, std::move(ns), std::move(cursor), first);
}

}  // namespace evenkeel::router::read
