// Statements of transactions: which transaction a command belongs to, and what its failure means.
#pragma once

#include <memory>

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

// A command outside transactions, with a newer txnNumber, ends the session's open one.
Awaitable<void> LeaveTransaction(CommandContext& context, Session& session);

// Looks at what a statement has come to: one that has failed ends the transaction. A write error
// that asks for a new start becomes the statement's error.
Awaitable<CommandResult> FinishStatement(CommandContext& context, CommandResult result);

// Adds recoveryToken {recoveryShardId} to a reply, once the coordinator is known.
void AppendRecoveryToken(const ClientTransaction& transaction, bson::Document* reply);

}  // namespace evenkeel::router
