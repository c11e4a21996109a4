// A command as a statement of a transaction: opens it, takes its turn, says what it has done.
#pragma once

#include <string_view>

#include "shard/command/command.h"

namespace evenkeel::shard {

// {lsid, txnNumber, readAt: Timestamp, start?: true, records?: true, onlyReads?: true, created?:
// true}: what the router adds to the commands of a transaction. `onlyReads`: it is the snapshot of
// a cursor. `created`: it has created the collection of the command. `records`: the transaction is
// the router's own, for one retryable statement of a client, whose result is recorded under the
// client's lsid and txnNumber.
inline constexpr std::string_view kStatementField = "$txn";
// {wrote: true, leaving?: [{ns, d}]}: what the shard adds to their replies once the transaction has
// written here. `leaving`: documents that the statement has removed because they belong to other
// shards now; the router inserts them there.
inline constexpr std::string_view kStatementReplyField = "$txn";

// From {lsid: {id}, txnNumber}. Errors: InvalidOptions.
absl::StatusOr<txn::TransactionId> TransactionIdOf(bson::View fields);

// Runs `handler` within the transaction of the command.
//
// Errors: of the handler; NoSuchTransaction, TransactionTooOld; SnapshotUnavailable when the
// collection has changed after the snapshot; SnapshotTooOld; TransactionTooLarge. The transaction
// stays open: whoever gets an error ends it.
Awaitable<CommandResult> RunStatement(CommandContext& context, bson::Value statement,
                                      CommandHandler handler,
                                      Awaitable<CommandResult> (*run)(CommandHandler,
                                                                      CommandContext&));

}  // namespace evenkeel::shard
