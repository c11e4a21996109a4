// Shows the plan of a read or write, and runs the reading part of it for the statistics.
#include "shard/command/explain.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/request/count_request.h"
#include "query/request/delete_request.h"
#include "query/request/distinct_request.h"
#include "query/request/find_and_modify_request.h"
#include "query/request/update_request.h"
#include "query/stage/stage.h"
#include "shard/command/cursor_commands.h"
#include "shard/command/read_cursor.h"

namespace evenkeel::shard {
namespace {

using CursorResult = absl::StatusOr<std::unique_ptr<ReadCursor>>;

// The search of the explained command.
CursorResult OpenExplained(const CommandContext& context, const wire::ShardEnvelope& envelope,
                           const Collection& collection,
                           std::shared_ptr<const bson::Document> command,
                           query::StageTrace* trace) {
  const std::string_view name = command->view().Front().key;
  ReadSpec spec{command, {}, {}, {}};
  if (name == "find") return OpenFind(context, collection, command, envelope.merge);
  if (name == "aggregate") return OpenAggregate(context, envelope, collection, command, trace);
  if (name == "count") {
    EVENKEEL_ASSIGN_OR_RETURN(const auto request, query::ParseCount(command->view()));
    spec.filter = request.query;
    spec.hint = request.hint;
  } else if (name == "distinct") {
    EVENKEEL_ASSIGN_OR_RETURN(const auto request, query::ParseDistinct(command->view()));
    spec.filter = request.query;
    spec.hint = request.hint;
  } else if (name == "findAndModify" || name == "findandmodify") {
    EVENKEEL_ASSIGN_OR_RETURN(const auto request, query::ParseFindAndModify(command->view()));
    spec.filter = request.query;
    spec.sort = request.sort;
    spec.hint = request.hint;
  } else if (name == "update") {
    EVENKEEL_ASSIGN_OR_RETURN(const auto request, query::ParseUpdate(command->view()));
    spec.filter = request.updates.front().q;
    spec.hint = request.updates.front().hint;
  } else if (name == "delete") {
    EVENKEEL_ASSIGN_OR_RETURN(const auto request, query::ParseDelete(command->view()));
    spec.filter = request.deletes.front().q;
    spec.hint = request.deletes.front().hint;
  } else {
    return Error(ErrorCode::kCommandNotFound, "Explain failed due to unknown command: {}", name);
  }
  return ReadCursor::Open(context, collection, std::move(spec));
}

bson::Document PlannerOf(const Collection& collection, const ReadCursor& cursor) {
  bson::Builder out;
  out.Append("namespace", collection.entry->ns)
      .Append("indexFilterSet", false)
      .Append("parsedQuery", cursor.filter().source())
      .Append("winningPlan", query::ExplainPlan(cursor.plan(), cursor.plan_request()))
      .OpenArray("rejectedPlans")
      .Close();
  return out.Finish();
}

bson::Document ExecutionOf(const ReadCursor& cursor, int64_t returned, absl::Duration time) {
  bson::Builder out;
  out.Append("executionSuccess", true)
      .Append("nReturned", static_cast<int32_t>(returned))
      .Append("executionTimeMillis", static_cast<int32_t>(absl::ToInt64Milliseconds(time)))
      .Append("totalKeysExamined", static_cast<int32_t>(cursor.scan().keys_examined()))
      .Append("totalDocsExamined", static_cast<int32_t>(cursor.scan().docs_examined()));
  return out.Finish();
}

// The stages behind the filter, and in front of them the search as $cursor. `time`: of the whole
// run; nothing when it was not run.
void AppendStages(const ReadCursor& cursor, const query::StageTrace& trace,
                  const bson::Document& planner, std::optional<absl::Duration> time,
                  bson::Builder* reply) {
  reply->OpenArray("stages");
  bson::ArrayAppender array(*reply);
  reply->OpenDocument(array.NextKey()).OpenDocument("$cursor").Append("queryPlanner", planner);
  if (time) reply->Append("executionStats", ExecutionOf(cursor, cursor.found(), *time));
  reply->Close();
  if (time) {
    reply->Append("nReturned", cursor.found())
        .Append("executionTimeMillisEstimate", absl::ToInt64Milliseconds(*time));
  }
  reply->Close();
  for (const query::StageTrace::Entry& entry : trace.entries) {
    query::stage::StageWriter writer;
    entry.stage->Write(writer);
    reply->OpenDocument(array.NextKey());
    const bson::Document written = writer.Finish();
    for (const bson::Element& stage : written.view()) reply->AppendFields(stage.value.AsDocument());
    if (time) entry.measured->AppendStats(reply);
    reply->Close();
  }
  reply->Close();
}

}  // namespace

Awaitable<CommandResult> ExplainCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  const bson::Value inner = context.body().Front().value;
  if (!inner.Is(bson::Type::kObject))
    co_return MakeError(ErrorCode::kTypeMismatch, "explain takes a command object");
  const auto command = std::make_shared<const bson::Document>(inner.AsDocument());
  query::StageTrace trace;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto cursor,
                               OpenExplained(context, envelope, collection, command, &trace));
  const bson::Document planner = PlannerOf(collection, *cursor);
  bson::Builder reply;
  reply.Append("queryPlanner", planner);
  const bson::Value verbosity = context.body()["verbosity"];
  const bool plan_only =
      verbosity.Is(bson::Type::kString) && verbosity.AsString() == "queryPlanner";
  std::optional<absl::Duration> time;
  if (!plan_only) {
    const absl::Time start = context.service.wall().Now();
    int64_t returned = 0;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await cursor->RunAll(context, [&returned](bson::View) {
      ++returned;
      return absl::OkStatus();
    }));
    time = context.service.wall().Now() - start;
    reply.Append("executionStats", ExecutionOf(*cursor, returned, *time));
  }
  if (!trace.entries.empty()) AppendStages(*cursor, trace, planner, time, &reply);
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
