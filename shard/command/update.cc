// update and delete: statement after statement, each on one document or on all that match.
#include "shard/command/update.h"

#include <utility>
#include <vector>

#include "base/bson/number.h"
#include "base/status.h"
#include "query/request/delete_request.h"
#include "query/request/update_request.h"
#include "shard/command/retry_log.h"
#include "shard/command/write_many.h"
#include "shard/command/write_one.h"
#include "shard/command/write_reply.h"

namespace evenkeel::shard {
namespace {

// One statement of either command.
struct Statement {
  StatementSpec spec;
  bool multi = false;
};

absl::StatusOr<std::vector<Statement>> ParseStatements(const CommandContext& context,
                                                       bool is_update, bson::View only) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::View> documents,
                            context.Documents(is_update ? "updates" : "deletes"));
  std::vector<Statement> out;
  out.reserve(documents.size());
  for (const bson::View document : documents) {
    Statement statement;
    if (is_update) {
      EVENKEEL_ASSIGN_OR_RETURN(const query::UpdateStatement parsed,
                                query::ParseUpdateStatement(document));
      statement.spec = {parsed.q,    parsed.u,      parsed.array_filters, parsed.sort,
                        parsed.hint, parsed.upsert, parsed.collation,     parsed.c};
      statement.multi = parsed.multi;
    } else {
      EVENKEEL_ASSIGN_OR_RETURN(const query::DeleteStatement parsed,
                                query::ParseDeleteStatement(document));
      statement.spec.filter = parsed.q;
      statement.spec.hint = parsed.hint;
      statement.spec.collation = parsed.collation;
      statement.multi = !parsed.just_one;
    }
    statement.spec.only = only;
    out.push_back(std::move(statement));
  }
  return out;
}

void AddOutcome(const WriteOneOutcome& outcome, size_t index, WriteReply* reply) {
  if (outcome.replayed) {
    if (outcome.stored.upserted.value().missing()) {
      reply->AddMatched(outcome.stored.matched, outcome.stored.modified);
    } else {
      reply->AddUpserted(index, outcome.stored.upserted);
    }
    return;
  }
  if (outcome.missed) reply->SetMissed();
  if (outcome.inserted()) {
    reply->AddUpserted(index, outcome.upserted_id);
  } else {
    reply->AddMatched(outcome.matched ? 1 : 0, outcome.modified ? 1 : 0);
  }
}

// What one command carries from statement to statement.
struct Run {
  CommandContext& context;
  const Collection& collection;
  const RetryLog& retry;
  std::string target;
  txn::StatementKind kind;
  CommandWrites writes;
  WriteReply reply;
};

// Runs one statement; its result goes into the reply.
Awaitable<absl::Status> RunStatement(Run& run, const Statement& statement, size_t index) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const auto compiled, WriteStatement::Compile(run.context, run.collection, statement.spec));
  if (statement.multi && compiled->is_replacement()) {
    co_return MakeError(ErrorCode::kFailedToParse,
                        "multi update is not supported for replacement-style update");
  }
  if (!statement.multi) {
    WriteOneOptions options;
    options.position = index;
    options.target = run.target;
    options.kind = run.kind;
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        const WriteOneOutcome outcome,
        co_await WriteOne(run.context, *compiled, run.retry, std::move(options), &run.writes));
    AddOutcome(outcome, index, &run.reply);
    co_return absl::OkStatus();
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await run.writes.Durable());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const WriteManyOutcome outcome,
                               co_await WriteMany(run.context, compiled.get()));
  run.reply.AddMatched(outcome.matched, outcome.modified);
  if (outcome.matched == 0 && statement.spec.upsert && outcome.status.ok()) {
    // Nothing matched: the upsert is a single-document one.
    WriteOneOptions options;
    options.position = index;
    options.kind = run.kind;
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        const WriteOneOutcome one,
        co_await WriteOne(run.context, *compiled, run.retry, std::move(options), &run.writes));
    AddOutcome(one, index, &run.reply);
  }
  co_return outcome.status;
}

Awaitable<CommandResult> WriteCommand(CommandContext& context, bool is_update) {
  ShardService& service = context.service;
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*service.catalog(), envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RetryLog retry, RetryLog::FromCommand(context, envelope));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<Statement> statements,
                               ParseStatements(context, is_update, envelope.only));
  const bson::Value ordered_field = context.body()["ordered"];
  const bool ordered = ordered_field.missing() || bson::Truthy(ordered_field);

  const txn::StatementKind kind =
      is_update ? txn::StatementKind::kUpdate : txn::StatementKind::kDelete;
  Run run{context, collection, retry, std::string(envelope.target), kind, {}, {}};
  for (size_t i = 0; i < statements.size(); ++i) {
    const absl::Status status = co_await RunStatement(run, statements[i], i);
    if (status.ok()) continue;
    // Nothing has been done yet: the router may route the whole request again, the client learns
    // why it was ended. A transaction has to start again.
    const bool ends = i == 0 && (Is(status, kStaleRouting) || Is(status, kInterrupted));
    if (ends || (context.transaction != nullptr && Is(status, kTransientTransaction))) {
      EVENKEEL_CO_RETURN_IF_ERROR(co_await run.writes.Durable());
      co_return status;
    }
    run.reply.AddError(i, status);
    if (ordered) break;
    if (!Is(status, kInterrupted)) continue;
    while (++i < statements.size()) run.reply.AddError(i, status);
  }
  EVENKEEL_CO_RETURN_IF_ERROR(co_await run.writes.Durable());
  co_return run.reply.ToBson(is_update);
}

}  // namespace

Awaitable<CommandResult> UpdateCommand(CommandContext& context) {
  return WriteCommand(context, true);
}

Awaitable<CommandResult> DeleteCommand(CommandContext& context) {
  return WriteCommand(context, false);
}

}  // namespace evenkeel::shard
