// Statements of transactions: which transaction a command belongs to, and what its failure means.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "router/command.h"
#include "router/session/session_table.h"
#include "router/transaction/transaction.h"

namespace evenkeel::router {

// True for commitTransaction and abortTransaction.
bool EndsTransaction(const wire::Request& request);

// The transaction of a command with autocommit: false, which begins here with startTransaction.
// Commits and aborts get the one that they name, or null when this router does not know it.
//
// Errors: NoSuchTransaction, TransactionTooOld, ConflictingOperationInProgress, InvalidOptions for
// a read concern behind the first statement. Suspends: ends an older transaction of the session.
Awaitable<absl::StatusOr<std::shared_ptr<ClientTransaction>>> EnterTransaction(
    CommandContext& context, Session& session);

// When a command with a snapshot of its own reads: at readConcern.atClusterTime, else so that it
// sees everything its client has seen.
Timestamp SnapshotFor(const CommandContext& context);

// Ends the session's open transaction: it has gone on to a newer number. The turn is held.
Awaitable<void> LeaveTransaction(RouterState& router, Session& session);

// Ends what a forgotten session has open: its transaction, once the command under way is over, and
// its cursors.
Awaitable<void> EndSession(RouterState& router, std::shared_ptr<Session> session);

// Inserts documents that the statement's updates have taken from their shards where they belong.
// Errors: DuplicateKey and others of the insert.
Awaitable<absl::Status> InsertLeaving(CommandContext& context);

// Runs `body`, one statement of a client, as a transaction of the router's own, again and again
// while it conflicts. Nothing is committed when the body has set `discarded`.
//
// turn    attempts of this name come one after the other on this router, so that those which would
//         conflict do not; empty: all at once.
// Errors  of the body; of the commit; WriteConflict when it conflicts for too long.
Awaitable<absl::Status> RunAsTransaction(CommandContext& context, std::string turn,
                                         std::function<Awaitable<absl::Status>()> body);

// Looks at what a statement has come to: one that has failed ends the transaction. A write error
// that asks for a new start becomes the statement's error.
Awaitable<CommandResult> FinishStatement(CommandContext& context, CommandResult result);

// Adds recoveryToken {recoveryShardId} to a reply, once the coordinator is known.
void AppendRecoveryToken(const ClientTransaction& transaction, bson::Document* reply);

}  // namespace evenkeel::router
