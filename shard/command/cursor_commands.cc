// Opens cursors and makes their batches.
#include "shard/command/cursor_commands.h"

#include <utility>

#include "base/limits.h"
#include "base/status.h"
#include "query/exec/find_exec.h"
#include "query/request/aggregate_request.h"
#include "query/request/cursor_request.h"
#include "query/request/find_request.h"
#include "query/stage/pipeline.h"
#include "shard/command/cursor_table.h"
#include "shard/command/figures.h"
#include "shard/command/foreign_reads.h"
#include "shard/command/row_operators.h"

namespace evenkeel::shard {
namespace {

constexpr int64_t kFirstBatchRows = 101;  // the manual's default for the first batch

// Forgets a cursor that was checked out unless it is brought back: its command may end anywhere.
class CheckedOut {
 public:
  CheckedOut(CursorTable& table, CursorId id) : table_(table), id_(id) {}
  CheckedOut(const CheckedOut&) = delete;
  CheckedOut& operator=(const CheckedOut&) = delete;
  ~CheckedOut() {
    if (id_.value != 0) table_.Remove(id_);
  }
  // Returns the id, which stays in the table.
  CursorId BringBack(std::unique_ptr<ReadCursor> cursor, absl::Time now) {
    const CursorId id = std::exchange(id_, CursorId{});
    table_.CheckIn(id, std::move(cursor), now);
    return id;
  }

 private:
  CursorTable& table_;
  CursorId id_;  // 0: a new cursor, which is not in the table, or one that is back
};

// Makes the next batch into {cursor: {firstBatch | nextBatch, id, ns}}. A cursor that has not ended
// is kept under its id, a new one (`id` 0) under a fresh one.
Awaitable<CommandResult> Answer(CommandContext& context, std::unique_ptr<ReadCursor> cursor,
                                CursorId id, std::optional<int64_t> rows, bool keep) {
  CursorTable& table = context.service.cursors();
  const std::string ns = cursor->collection().entry->ns;
  const bool first = id.value == 0;
  CheckedOut checked_out(table, id);
  bson::Builder reply;
  reply.OpenDocument("cursor").OpenArray(first ? "firstBatch" : "nextBatch");
  const auto ended =
      co_await cursor->NextBatch(context, {rows, limits::kReplyBatchBytesMax}, &reply);
  EVENKEEL_CO_RETURN_IF_ERROR(ended.status());
  reply.Close();
  NoteFigures(context, *cursor);
  const absl::Time now = context.service.wall().Now();
  CursorId kept;
  if (!*ended && keep && first) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(kept, table.Add(std::move(cursor), now));
  } else if (!*ended && keep) {
    kept = checked_out.BringBack(std::move(cursor), now);
  }
  reply.Append("id", kept.value).Append("ns", ns).Close();
  AppendFigures(context, &reply);
  co_return reply.Finish();
}

std::shared_ptr<const bson::Document> CopyOfCommand(const CommandContext& context) {
  return std::make_shared<const bson::Document>(context.body());
}

// The index that a plan reads; null for a scan.
const catalog::IndexEntry* IndexOf(const query::Plan& plan, const catalog::CollectionEntry& entry) {
  if (plan.kind == query::PlanKind::kById) return &entry.indexes.front();
  return plan.index == nullptr ? nullptr : entry.FindIndex(plan.index->name);
}

// For operators that show more of a row than the document.
void SetSource(ReadCursor& cursor) {
  const catalog::CollectionEntry& entry = *cursor.collection().entry;
  cursor.query_context().source =
      std::make_shared<const CollectionSource>(entry, IndexOf(cursor.plan(), entry));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReadCursor>> OpenFind(const CommandContext& context,
                                                     const Collection& collection,
                                                     std::shared_ptr<const bson::Document> command,
                                                     bool merge) {
  EVENKEEL_ASSIGN_OR_RETURN(const query::FindRequest request, query::ParseFind(command->view()));
  ReadSpec spec{.command = std::move(command),
                .filter = request.filter,
                .sort = request.sort,
                .hint = request.hint};
  EVENKEEL_ASSIGN_OR_RETURN(auto cursor, ReadCursor::Open(context, collection, std::move(spec)));
  query::QueryContext& query_context = cursor->query_context();
  query_context.allow_disk_use = request.allow_disk_use.value_or(query_context.allow_disk_use);
  if (!request.min.empty() || !request.max.empty()) {
    EVENKEEL_ASSIGN_OR_RETURN(
        KeyRange range, KeyRange::Parse(*collection.entry, request.hint, request.min, request.max));
    cursor->SetKeyRange(std::move(range));
  }
  const bool in_order = request.sort.empty() || (cursor->sorted() && !merge);
  if (in_order && request.projection.empty() && !request.return_key && !request.show_record_id) {
    int64_t limit = request.limit.value_or(0) == 0 ? INT64_MAX : *request.limit;
    // The router skips in the merged stream.
    if (merge && __builtin_add_overflow(limit, request.skip, &limit)) limit = INT64_MAX;
    cursor->SetWindow(merge ? 0 : request.skip, limit);
    return cursor;
  }
  EVENKEEL_ASSIGN_OR_RETURN(auto parsed,
                            query::FindPipeline::Parse(request, cursor->query_context()));
  const std::shared_ptr<query::FindPipeline> pipeline(std::move(parsed));
  const query::Filter* filter = &cursor->filter();
  const bool sorted = cursor->sorted();
  SetSource(*cursor);
  const auto build = [&](std::unique_ptr<query::Operator> chain)
      -> absl::StatusOr<std::unique_ptr<query::Operator>> {
    if (request.show_record_id) {
      chain = std::make_unique<RecordIdOperator>(std::move(chain), *query_context.source);
    }
    chain = merge ? pipeline->ShardPart(std::move(chain), filter, sorted)
                  : pipeline->Whole(std::move(chain), filter, sorted);
    if (request.return_key) {
      chain = std::make_unique<ReturnKeyOperator>(std::move(chain), *query_context.source);
    }
    return chain;
  };
  EVENKEEL_RETURN_IF_ERROR(cursor->SetOperators(pipeline, build));
  return cursor;
}

absl::StatusOr<std::unique_ptr<ReadCursor>> OpenPipeline(const CommandContext& context,
                                                         const Collection& collection,
                                                         bson::View stages, ReadSpec spec) {
  EVENKEEL_ASSIGN_OR_RETURN(query::Pipeline parsed,
                            query::Pipeline::Parse(stages, *spec.query_context));
  const auto pipeline = std::make_shared<query::Pipeline>(std::move(parsed));
  pipeline->Optimize();
  spec.filter = pipeline->LeadingMatch();
  spec.stages = pipeline;
  query::StageTrace* trace = spec.trace;
  EVENKEEL_ASSIGN_OR_RETURN(auto cursor, ReadCursor::Open(context, collection, std::move(spec)));
  SetSource(*cursor);
  EVENKEEL_RETURN_IF_ERROR(
      cursor->SetOperators(pipeline, [&](std::unique_ptr<query::Operator> input) {
        return pipeline->Build(std::move(input), cursor->query_context(), true, trace);
      }));
  return cursor;
}

absl::StatusOr<std::unique_ptr<ReadCursor>> OpenAggregate(
    const CommandContext& context, const wire::ShardEnvelope& envelope,
    const Collection& collection, std::shared_ptr<const bson::Document> command,
    query::StageTrace* trace) {
  EVENKEEL_ASSIGN_OR_RETURN(const query::AggregateRequest given,
                            query::ParseAggregate(command->view()));
  EVENKEEL_ASSIGN_OR_RETURN(auto query_context, MakeQueryContext(context, collection));
  query_context->internal = true;
  query_context->allow_disk_use = given.allow_disk_use.value_or(query_context->allow_disk_use);
  EVENKEEL_ASSIGN_OR_RETURN(ForeignCollections foreign,
                            ForeignCollections::Open(context, envelope));
  if (!foreign.empty()) query_context->foreign = std::make_shared<query::ForeignReads>();
  ReadSpec spec{.command = std::move(command),
                .hint = given.hint,
                .query_context = std::move(query_context),
                .trace = trace};
  EVENKEEL_ASSIGN_OR_RETURN(auto cursor,
                            OpenPipeline(context, collection, given.pipeline, std::move(spec)));
  if (!foreign.empty()) {
    cursor->SetForeignReader(
        std::make_unique<ForeignReader>(std::move(foreign), cursor->query_context()));
  }
  return cursor;
}

Awaitable<CommandResult> FindCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::FindRequest request, query::ParseFind(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      auto cursor, OpenFind(context, collection, CopyOfCommand(context), envelope.merge));
  const int64_t rows = request.batch_size.value_or(kFirstBatchRows);
  co_return co_await Answer(context, std::move(cursor), {}, rows, !request.single_batch);
}

Awaitable<CommandResult> AggregateCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::AggregateRequest request,
                               query::ParseAggregate(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      auto cursor, OpenAggregate(context, envelope, collection, CopyOfCommand(context)));
  const int64_t rows = request.batch_size.value_or(kFirstBatchRows);
  co_return co_await Answer(context, std::move(cursor), {}, rows, true);
}

Awaitable<CommandResult> GetMoreCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::GetMoreRequest request,
                               query::ParseGetMore(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(auto cursor, context.service.cursors().CheckOut(request.cursor));
  co_return co_await Answer(context, std::move(cursor), request.cursor, request.batch_size, true);
}

Awaitable<CommandResult> KillCursorsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::KillCursorsRequest request,
                               query::ParseKillCursors(context.body()));
  std::vector<CursorId> killed, unknown;
  for (const CursorId id : request.cursors) {
    (context.service.cursors().Kill(id) ? killed : unknown).push_back(id);
  }
  bson::Builder reply;
  const auto list = [&reply](std::string_view name, const std::vector<CursorId>& ids) {
    reply.OpenArray(name);
    bson::ArrayAppender array(reply);
    for (const CursorId id : ids) array.Add(id.value);
    reply.Close();
  };
  list("cursorsKilled", killed);
  list("cursorsNotFound", unknown);
  list("cursorsAlive", {});
  list("cursorsUnknown", {});
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
