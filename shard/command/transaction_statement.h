// A command as a statement of a transaction: opens it, takes its turn, says what it has done.
#pragma once

#include <string_view>

#include "shard/command/command.h"

namespace evenkeel::shard {

// {readAt: Timestamp, start?: true}: what the router adds to the commands of a transaction, beside
// lsid and txnNumber.
inline constexpr std::string_view kStatementField = "$txn";
// {wrote: true}: what the shard adds to their replies once the transaction has written here.
inline constexpr std::string_view kStatementReplyField = "$txn";

// The 16 bytes of lsid.id and the txnNumber of a command. Errors: InvalidOptions.
absl::StatusOr<txn::TransactionId> TransactionIdOf(bson::View command);

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
