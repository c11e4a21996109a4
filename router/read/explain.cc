// explain, in the shape of a mongos.
#include "router/read/explain.h"

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "query/request/aggregate_request.h"
#include "query/request/fields.h"
#include "query/stage/pipeline.h"
#include "router/query_context.h"
#include "router/read/colocation.h"
#include "router/read/read.h"
#include "router/retry.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "wire/protocol/commands.h"

namespace evenkeel::router::read {
namespace {

constexpr std::string_view kPlanOnly = "queryPlanner";

// What targeting needs to know of a command that can be explained.
struct Explained {
  bson::View command;
  std::string ns;
  bson::View filter, sort, collation;
  bool split = false;  // a pipeline that several shards or the router carry out
  bson::Document shards_part, merger_part;       // then
  std::vector<wire::ForeignCollection> foreign;  // that the shards read, too
  bool is_aggregate = false;
};

bson::View ObjectField(bson::View document, std::string_view name) {
  const bson::Value value = document[name];
  return value.Is(bson::Type::kObject) ? value.AsDocument() : bson::View();
}

// The only statement of an update or delete. Errors: InvalidLength for none or several.
absl::StatusOr<bson::View> OnlyStatement(bson::View command, std::string_view field) {
  const bson::Value list = command[field];
  if (!list.Is(bson::Type::kArray) || list.AsDocument().CountFields() != 1 ||
      !list.AsDocument().Front().value.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kInvalidLength, "explained writes must have exactly one statement");
  }
  return list.AsDocument().Front().value.AsDocument();
}

absl::StatusOr<Explained> Read(const CommandContext& context, bson::View command) {
  Explained out;
  out.command = command;
  const bson::Element first = command.Front();
  const wire::CommandFacts* facts = wire::FindCommand(first.key);
  const std::string_view name = facts ? facts->name : first.key;
  if (name == "find") {
    out.filter = ObjectField(command, "filter");
    out.sort = ObjectField(command, "sort");
  } else if (name == "count" || name == "distinct" || name == "findAndModify") {
    out.filter = ObjectField(command, "query");
  } else if (name == "update" || name == "delete") {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::View statement,
                              OnlyStatement(command, name == "update" ? "updates" : "deletes"));
    out.filter = ObjectField(statement, "q");
  } else if (name == "aggregate") {
    out.is_aggregate = true;
  } else {
    return Error(ErrorCode::kCommandNotFound, "Explain failed due to unknown command: {}",
                 first.key);
  }
  out.collation = ObjectField(command, "collation");
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view collection, query::CollectionName(first.value));
  out.ns = std::string(context.request.database).append(".").append(collection);
  return out;
}

std::string_view StageName(const Explained& explained, const Targets& targets) {
  if (targets.shards.size() == 1) return "SINGLE_SHARD";
  return explained.sort.empty() ? "SHARD_MERGE" : "SHARD_MERGE_SORT";
}

void AppendServerInfo(bson::Builder& reply, const RouterOptions& options) {
  reply.OpenDocument("serverInfo")
      .Append("host", options.host)
      .Append("port", int32_t{options.port})
      .Append("version", options.version)
      .Append("gitVersion", "")
      .Close();
}

std::string HostOf(const RouterOptions& options) {
  return options.host + ":" + std::to_string(options.port);
}

int64_t Number(bson::View document, std::string_view field) {
  const bson::Value value = document[field];
  return value.IsNumber() ? bson::ToInt64Truncated(value) : 0;
}

// Makes the reply out of the shards' answers.
class ExplainReply {
 public:
  ExplainReply(const RouterState& router, const Explained& explained, const Targets& targets,
               const std::vector<wire::Message>& replies)
      : router_(router), explained_(explained), targets_(targets), replies_(replies) {}

  bson::Document Make() {
    if (explained_.is_aggregate) {
      AppendSplit();
      AppendShards();
    }
    AppendPlanner();
    if (replies_[0].body.Contains("executionStats")) AppendExecution();
    AppendServerInfo(reply_, router_.options);
    reply_.Append("command", explained_.command);
    return reply_.Finish();
  }

 private:
  void AppendSplit() {
    if (!explained_.split) {
      reply_.AppendNull("splitPipeline");
      return;
    }
    reply_.Append("mergeType", "mongos").OpenDocument("splitPipeline");
    reply_.AppendArray("shardsPart", explained_.shards_part)
        .AppendArray("mergerPart", explained_.merger_part)
        .Close();
  }

  // What each shard does, stage by stage.
  void AppendShards() {
    reply_.OpenDocument("shards");
    for (size_t i = 0; i < replies_.size(); ++i) {
      const bson::View answer = replies_[i].body;
      reply_.OpenDocument(Cluster::ShardName(targets_.shards[i]));
      reply_.Append("host", HostOf(router_.options));
      if (answer.Contains("stages")) {
        reply_.AppendArray("stages", answer["stages"].AsDocument());
      } else {
        reply_.Append("queryPlanner", answer["queryPlanner"]);
        reply_.Append("executionStats", answer["executionStats"]);
      }
      reply_.Close();
    }
    reply_.Close();
  }

  void AppendPlanner() {
    reply_.OpenDocument("queryPlanner").Append("mongosPlannerVersion", int32_t{1});
    reply_.OpenDocument("winningPlan").Append("stage", StageName(explained_, targets_));
    reply_.OpenArray("shards");
    bson::ArrayAppender array(reply_);
    for (size_t i = 0; i < replies_.size(); ++i) {
      const std::string name = Cluster::ShardName(targets_.shards[i]);
      reply_.OpenDocument(array.NextKey());
      reply_.Append("shardName", name)
          .Append("connectionString", name + "/" + HostOf(router_.options));
      AppendServerInfo(reply_, router_.options);
      reply_.AppendFields(ObjectField(replies_[i].body, "queryPlanner"));
      reply_.Close();
    }
    reply_.Close().Close().Close();
  }

  void AppendExecution() {
    int64_t returned = 0, millis = 0, keys = 0, documents = 0;
    for (const wire::Message& reply : replies_) {
      const bson::View stats = ObjectField(reply.body, "executionStats");
      returned += Number(stats, "nReturned");
      millis = std::max(millis, Number(stats, "executionTimeMillis"));
      keys += Number(stats, "totalKeysExamined");
      documents += Number(stats, "totalDocsExamined");
    }
    const auto totals = [&] {
      reply_.Append("nReturned", static_cast<int32_t>(returned))
          .Append("executionTimeMillis", static_cast<int32_t>(millis))
          .Append("totalKeysExamined", static_cast<int32_t>(keys))
          .Append("totalDocsExamined", static_cast<int32_t>(documents));
    };
    reply_.OpenDocument("executionStats").Append("executionSuccess", true);
    totals();
    reply_.OpenDocument("executionStages").Append("stage", StageName(explained_, targets_));
    totals();
    reply_.OpenArray("shards");
    bson::ArrayAppender array(reply_);
    for (size_t i = 0; i < replies_.size(); ++i) {
      reply_.OpenDocument(array.NextKey());
      reply_.Append("shardName", Cluster::ShardName(targets_.shards[i]));
      reply_.AppendFields(ObjectField(replies_[i].body, "executionStats"));
      reply_.Close();
    }
    reply_.Close().Close().Close();
  }

  const RouterState& router_;
  const Explained& explained_;
  const Targets& targets_;
  const std::vector<wire::Message>& replies_;
  bson::Builder reply_;
};

// The command as the shards are to explain it: of a split pipeline their part.
bson::Document ShardsCommand(const Explained& explained) {
  if (!explained.split) return bson::Document(explained.command);
  bson::Builder command;
  for (const auto& field : explained.command) {
    if (field.key == "pipeline") {
      command.AppendArray("pipeline", explained.shards_part);
    } else {
      command.Append(field.key, field.value);
    }
  }
  return command.Finish();
}

Awaitable<CommandResult> AskShards(CommandContext& context, RoutePtr route,
                                   const Explained& explained, const Targets& targets,
                                   std::string_view verbosity) {
  bson::Builder body;
  body.Append("explain", ShardsCommand(explained)).Append("verbosity", verbosity);
  body.Append("$db", context.request.database);
  // What a shard takes from the command's own top.
  for (const std::string_view field : {"let", "collation"}) {
    body.Append(field, explained.command[field]);
  }
  wire::ShardEnvelope envelope = EnvelopeOf(*route, context.times);
  envelope.merge = explained.is_aggregate && targets.shards.size() > 1;
  wire::AppendEnvelope(body, envelope, explained.foreign);
  const wire::Message message = MakeMessage(body.Finish());
  std::vector<ShardCall> calls;
  for (const ShardId shard : targets.shards) calls.push_back({shard, message});
  const auto answers = co_await context.router.cluster->SendAll(std::move(calls), context.scope());
  std::vector<wire::Message> replies;
  for (const auto& answer : answers) {
    if (!answer.ok()) co_return answer.status();
    replies.push_back(*answer);
  }
  co_return ExplainReply(context.router, explained, targets, replies).Make();
}

// The variables of a command, evaluated before (router/let.h).
bson::View LetOf(bson::View command) {
  const bson::Value let = command["let"];
  return let.Is(bson::Type::kObject) ? let.AsDocument() : bson::View();
}

// Targets the command; splits a pipeline where several shards answer.
Awaitable<absl::StatusOr<Targets>> Target(CommandContext& context, const catalog::Route& route,
                                          Explained& explained) {
  if (!explained.is_aggregate) {
    co_return TargetStatement(context.router, context.times, route, explained.filter,
                              explained.collation, LetOf(explained.command));
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::AggregateRequest request,
                               query::ParseAggregate(explained.command));
  const auto query_context =
      MakeQueryContext(context.router, context.times, explained.ns, request.let);
  EVENKEEL_CO_ASSIGN_OR_RETURN(query::Pipeline pipeline,
                               query::Pipeline::Parse(request.pipeline, *query_context));
  pipeline.Optimize();
  const bson::View collation =
      request.collation.empty() ? query::CollationOption(route.entry->options) : request.collation;
  EVENKEEL_CO_ASSIGN_OR_RETURN(explained.foreign,
                               co_await JoinOnShards(context, route, collation, pipeline));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      Targets targets, TargetStatement(context.router, context.times, route,
                                       pipeline.LeadingMatch(), request.collation, request.let));
  if (targets.shards.size() > 1 || pipeline.NeedsRouter()) {
    query::SplitPipeline split = pipeline.Split();
    explained.split = true;
    explained.shards_part = std::move(split.shard_part);
    explained.merger_part = std::move(split.merge_part);
  }
  co_return targets;
}

// A collection that does not exist: an empty plan on no shard.
bson::Document AbsentReply(const CommandContext& context, const Explained& explained) {
  bson::Builder reply;
  reply.OpenDocument("queryPlanner")
      .Append("mongosPlannerVersion", int32_t{1})
      .Append("namespace", explained.ns)
      .OpenDocument("winningPlan")
      .Append("stage", "EOF")
      .Close()
      .Close();
  AppendServerInfo(reply, context.router.options);
  reply.Append("command", explained.command);
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> Explain(CommandContext& context, bson::View command,
                                 std::string verbosity) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(Explained explained, Read(context, command));
  RouteRetry retry(context.router, explained.ns, context.scope());
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const RoutePtr route, co_await retry.Route());
    if (!route) co_return AbsentReply(context, explained);
    if (route->entry->kind == catalog::CollectionKind::kView) {
      co_return Error(ErrorCode::kCommandNotSupportedOnView,
                      "explain of the view '{}' is not supported yet", explained.ns);
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(const Targets targets,
                                 co_await Target(context, *route, explained));
    CommandResult result = co_await AskShards(context, route, explained, targets, verbosity);
    if (!retry.IsStale(result.status())) co_return result;
    ForgetIfStale(context, result.status(), explained.foreign);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await retry.Refresh());
  }
}

Awaitable<CommandResult> ExplainCommand(CommandContext& context) {
  const bson::Value command = context.request.argument;
  if (command.IsNullish()) co_return query::MissingField("explain", "explain");
  if (!command.Is(bson::Type::kObject) || command.AsDocument().empty()) {
    co_return MakeError(ErrorCode::kTypeMismatch, "explain takes a command as an object");
  }
  const bson::Value given = context.body()["verbosity"];
  std::string verbosity = "allPlansExecution";
  if (given.Is(bson::Type::kString)) verbosity = std::string(given.AsString());
  if (!given.IsNullish() && !given.Is(bson::Type::kString)) {
    co_return query::WrongType("explain", "verbosity", given, "string");
  }
  if (verbosity != kPlanOnly && verbosity != "executionStats" && verbosity != "allPlansExecution") {
    co_return MakeError(ErrorCode::kFailedToParse,
                        "verbosity must be one of {'queryPlanner', 'executionStats', "
                        "'allPlansExecution'}");
  }
  co_return co_await Explain(context, command.AsDocument(), std::move(verbosity));
}

}  // namespace evenkeel::router::read
