// Statements that change one document and do not say on which shard it is.
//
// All owning shards name their first match, one is picked, and the statement is sent to its shard
// on condition that the document still matches; if it does not, everything begins again.
//
// Where it matters that no other attempt does the same, through this router or another one, the
// statement is a transaction of the router's own: retryable ones, whose earlier attempt may have
// changed another document, and upserts, which insert what they do not find. It begins with a touch
// (txn/transaction_record.h) that conflicts with the other attempt's, and looks for the record that
// an earlier attempt has left beside its document.
//
// Invariants
//   K1  Of all attempts at a retryable statement at most one changes a document: each touches the
//       same key and has seen the records of all that touched it before.
//   K2  Upserts with one filter do not both insert.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "router/cluster.h"
#include "router/command.h"
#include "router/retry.h"
#include "router/target.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::router::write {

// Views point into the client's message.
struct KeylessStatement {
  RoutePtr route;
  Targets targets;
  bson::View filter, sort, collation, let;
  bson::Value hint;
  std::optional<int32_t> retryable_id;  // the statement's id in a retryable command
  // The statement for the shard that has the chosen document.
  std::function<wire::Message(const wire::ShardEnvelope& envelope)> make;
};

struct KeylessOutcome {
  bool done = false;            // false: no document matches
  std::optional<int32_t> kind;  // of a record: the statement had been carried out before
  bson::Document reply;         // the shard's, or the record's
};

// Begins a statement that is a transaction of its own: touches, and returns the stored result of an
// earlier attempt, from whichever shard has it; the transaction is discarded then.
//
// upsert  it may insert.
// Errors  WriteConflict when another attempt is under way or has just ended; StaleConfig.
Awaitable<absl::StatusOr<std::optional<KeylessOutcome>>> BeginKeyless(
    CommandContext& context, const KeylessStatement& statement, bool upsert);

// Carries it out. Errors: StaleConfig when nothing was done; the shard's.
Awaitable<absl::StatusOr<KeylessOutcome>> RunKeyless(CommandContext& context,
                                                     const KeylessStatement& statement);

// The hash of what an upsert looks for: of the `_id`, where the filter names one value.
int64_t UpsertHash(bson::View filter);
// The name of the turns that statements with this filter take on this router; empty for those that
// may take any document.
std::string TurnOf(std::string_view ns, bson::View filter, bson::View sort, bool upsert);

// As kinds are numbered in records.
inline constexpr int32_t kRecordOfUpdate = 2;
inline constexpr int32_t kRecordOfFindAndModify = 4;

}  // namespace evenkeel::router::write
