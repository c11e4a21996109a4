// How transactions end on a shard: the internal commands of commit, and what becomes of those that
// nobody ends.
//
// Each is repeatable: asked again it gives the same answer as long as anybody may ask.
#pragma once

#include "shard/command/command.h"

namespace evenkeel::shard {

// {_commitTransaction: 1, lsid, txnNumber, participants?: [shards]} -> {committedAt}. Commits what
// this shard has; with participants it decides for them too: their prepare timestamps are at or
// below this shard's clock. Errors: NoSuchTransaction, SnapshotUnavailable, TransactionTooOld,
// OutOfDiskSpace: the transaction has not been committed, and is over here.
Awaitable<CommandResult> CommitTransactionCommand(CommandContext& context);
// {_prepareTransaction: 1, lsid, txnNumber, coordinator: shard} -> {preparedAt}. Errors: as commit.
Awaitable<CommandResult> PrepareTransactionCommand(CommandContext& context);
// {_commitUnderWay: 1, lsid, txnNumber} -> {}: its router still drives the commit; what is prepared
// does not count as left behind.
Awaitable<CommandResult> CommitUnderWayCommand(CommandContext& context);
// {_applyDecision: 1, lsid, txnNumber, commitAt?: Timestamp} -> {}: commits what is prepared, or
// gives it up. What is not prepared is given up in any case. Nothing is done when it is over.
Awaitable<CommandResult> ApplyDecisionCommand(CommandContext& context);
// {_abortTransaction: 1, lsid, txnNumber} -> {}: ends it if it is not prepared.
Awaitable<CommandResult> AbortTransactionCommand(CommandContext& context);
// {_decisionOf: 1, lsid, txnNumber} -> {committedAt?}: what has become of it on its coordinator,
// which ends it if it is still open. Errors: TransactionTooOld when it was not decided here and the
// session has gone on.
Awaitable<CommandResult> DecisionOfCommand(CommandContext& context);
// {_forgetDecision: 1, lsid, txnNumber} -> {}: all participants have applied it.
Awaitable<CommandResult> ForgetDecisionCommand(CommandContext& context);
// {_listPrepared: 1} -> {prepared: [{lsid, txnNumber, coordinator, seconds}], decisions: [{lsid,
// txnNumber, committedAt, participants}]}.
Awaitable<CommandResult> ListPreparedCommand(CommandContext& context);

// The transactions that were prepared before a restart.
absl::StatusOr<PreparedList> LoadPrepared(const storage::ReadSlice& slice, TransactionTable& table,
                                          absl::Time now);

}  // namespace evenkeel::shard
