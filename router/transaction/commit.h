// The end of transactions: one shard alone, or two phases over several; and what is left in doubt.
//
// The router asks the participants to prepare and the coordinator, the first shard that wrote, to
// decide; its decision is durable with its own writes. docs/life_of_a_cross_shard_commit.md says
// what is durable at every step, and who goes on when a process dies.
#pragma once

#include <memory>

#include "router/command.h"
#include "router/transaction/transaction.h"

namespace evenkeel::router {

// Commits. Asked again it gives the same answer. Errors: NoSuchTransaction and others when it has
// not been committed; retryable ones when that is not known.
Awaitable<absl::Status> CommitTransaction(RouterState& router,
                                          std::shared_ptr<ClientTransaction> transaction,
                                          CallScope scope);
// Gives everything up; the shards' keys are free when it returns, except on shards that do not
// answer.
Awaitable<void> AbortTransaction(RouterState& router,
                                 std::shared_ptr<ClientTransaction> transaction);

// Tells the writers every `period` that the commit is under way, until it is over.
Awaitable<void> TellUnderWay(RouterState& router, std::shared_ptr<ClientTransaction> transaction,
                             absl::Duration period, base::CancellationToken over);

// Ends what transactions of dead routers have left on the shards: prepared ones get the
// coordinator's decision, decisions are told to all participants. Only those of this age, and older
// ones. One look; to be run every now and then by every router.
Awaitable<void> ResolveTransactions(RouterState& router, absl::Duration age,
                                    base::CancellationToken cancelled);

Awaitable<CommandResult> CommitTransactionCommand(CommandContext& context);
Awaitable<CommandResult> AbortTransactionCommand(CommandContext& context);

}  // namespace evenkeel::router
