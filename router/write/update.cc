// update and delete: parsed here, carried out by ModifyWriter.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "query/request/delete_request.h"
#include "query/request/update_request.h"
#include "router/router.h"
#include "router/write/modify_writer.h"
#include "router/write/write.h"

namespace evenkeel::router::write {
namespace {

// The documents of the message's section, or null when they are a field of the command.
const std::vector<bson::View>* SequenceOf(const CommandContext& context, std::string_view name) {
  const wire::DocumentSequence* sequence = context.request.message.FindSequence(name);
  return sequence ? &sequence->documents : nullptr;
}

ModifyStatement FromUpdate(bson::View raw, const query::UpdateStatement& parsed) {
  ModifyStatement statement;
  statement.statement = raw;
  statement.filter = parsed.q;
  statement.sort = parsed.sort;
  statement.collation = parsed.collation;
  statement.hint = parsed.hint;
  statement.multi = parsed.multi;
  statement.upsert = parsed.upsert;
  statement.update = parsed.u;
  statement.array_filters = parsed.array_filters;
  statement.constants = parsed.c;
  return statement;
}

ModifyStatement FromDelete(bson::View raw, const query::DeleteStatement& parsed) {
  ModifyStatement statement;
  statement.statement = raw;
  statement.filter = parsed.q;
  statement.collation = parsed.collation;
  statement.hint = parsed.hint;
  statement.multi = !parsed.just_one;
  return statement;
}

absl::Status CheckRetryable(const CommandContext& context,
                            const std::vector<ModifyStatement>& statements) {
  if (!context.request.is_retryable_write()) return absl::OkStatus();
  const bool any_multi = std::any_of(statements.begin(), statements.end(),
                                     [](const ModifyStatement& s) { return s.multi; });
  if (!any_multi) return absl::OkStatus();
  return Error(ErrorCode::kInvalidOptions,
               "a retryable {} must not have statements that change several documents",
               context.request.name);
}

Awaitable<CommandResult> Carry(CommandContext& context, BatchWriter::Batch batch,
                               std::vector<ModifyStatement> statements, bson::View let) {
  EVENKEEL_CO_RETURN_IF_ERROR(CheckRetryable(context, statements));
  for (const ModifyStatement& statement : statements) {
    batch.statements.push_back(statement.statement);
    batch.may_create = batch.may_create || statement.upsert;
  }
  batch.keep = context.request.message.owner;
  ModifyWriter writer(context, std::move(batch), std::move(statements), let);
  co_return co_await writer.Run();
}

}  // namespace

Awaitable<CommandResult> UpdateCommand(CommandContext& context) {
  BatchWriter::Batch batch;
  batch.kind = WriteKind::kUpdate;
  EVENKEEL_CO_ASSIGN_OR_RETURN(batch.ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::UpdateRequest request,
                               query::ParseUpdate(context.body(), SequenceOf(context, "updates")));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> raw,
                               context.request.Documents("updates"));
  context.router.metrics.updates.fetch_add(raw.size(), std::memory_order_relaxed);
  EVENKEEL_CO_ASSIGN_OR_RETURN(batch.ids,
                               StatementIds(request.stmt_id, request.stmt_ids, raw.size()));
  std::vector<ModifyStatement> statements;
  for (size_t i = 0; i < raw.size(); ++i) {
    statements.push_back(FromUpdate(raw[i], request.updates[i]));
  }
  batch.ordered = request.ordered;
  co_return co_await Carry(context, std::move(batch), std::move(statements), request.let);
}

Awaitable<CommandResult> DeleteCommand(CommandContext& context) {
  BatchWriter::Batch batch;
  batch.kind = WriteKind::kDelete;
  EVENKEEL_CO_ASSIGN_OR_RETURN(batch.ns, context.Namespace());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::DeleteRequest request,
                               query::ParseDelete(context.body(), SequenceOf(context, "deletes")));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::View> raw,
                               context.request.Documents("deletes"));
  context.router.metrics.deletes.fetch_add(raw.size(), std::memory_order_relaxed);
  EVENKEEL_CO_ASSIGN_OR_RETURN(batch.ids,
                               StatementIds(request.stmt_id, request.stmt_ids, raw.size()));
  std::vector<ModifyStatement> statements;
  for (size_t i = 0; i < raw.size(); ++i) {
    statements.push_back(FromDelete(raw[i], request.deletes[i]));
  }
  batch.ordered = request.ordered;
  co_return co_await Carry(context, std::move(batch), std::move(statements), request.let);
}

}  // namespace evenkeel::router::write
