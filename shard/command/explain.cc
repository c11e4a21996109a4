// Shows the plan of a read or write, and runs the reading part of it for the statistics.
#include "shard/command/explain.h"

#include <memory>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/request/count_request.h"
#include "query/request/delete_request.h"
#include "query/request/distinct_request.h"
#include "query/request/find_and_modify_request.h"
#include "query/request/update_request.h"
#include "shard/command/cursor_commands.h"
#include "shard/command/read_cursor.h"

namespace evenkeel::shard {
namespace {

using CursorResult = absl::StatusOr<std::unique_ptr<ReadCursor>>;

// The search of the explained command.
CursorResult OpenExplained(const CommandContext& context, const Collection& collection, bool merge,
                           std::shared_ptr<const bson::Document> command) {
  const std::string_view name = command->view().Front().key;
  ReadSpec spec{command, {}, {}, {}};
  if (name == "find") return OpenFind(context, collection, command, merge);
  if (name == "aggregate") return OpenAggregate(context, collection, command);
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
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto cursor,
                               OpenExplained(context, collection, envelope.merge, command));

  bson::Builder reply;
  reply.OpenDocument("queryPlanner")
      .Append("namespace", collection.entry->ns)
      .Append("indexFilterSet", false)
      .Append("parsedQuery", cursor->filter().source())
      .Append("winningPlan", query::ExplainPlan(cursor->plan(), cursor->plan_request()))
      .OpenArray("rejectedPlans")
      .Close()
      .Close();
  const bson::Value verbosity = context.body()["verbosity"];
  const bool plan_only =
      verbosity.Is(bson::Type::kString) && verbosity.AsString() == "queryPlanner";
  if (plan_only) co_return reply.Finish();
  const absl::Time start = context.service.wall().Now();
  int32_t returned = 0;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await cursor->RunAll(context, [&returned](bson::View) {
    ++returned;
    return absl::OkStatus();
  }));
  const int64_t millis = absl::ToInt64Milliseconds(context.service.wall().Now() - start);
  reply.OpenDocument("executionStats")
      .Append("executionSuccess", true)
      .Append("nReturned", returned)
      .Append("executionTimeMillis", static_cast<int32_t>(millis))
      .Append("totalKeysExamined", static_cast<int32_t>(cursor->scan().keys_examined()))
      .Append("totalDocsExamined", static_cast<int32_t>(cursor->scan().docs_examined()))
      .Close();
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
