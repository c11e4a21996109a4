// Statements that change one document and do not say on which shard it is.
//
// All owning shards name their first match, one is picked, and the statement is sent to its shard
// on condition that the document still matches; if it does not, everything begins again. A
// retryable statement first asks all shards for a record: the record lies with the document that
// the first attempt changed.
//
// Invariant: of all attempts at most one changes a document, because an attempt ends with the first
// statement that was not missed.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <optional>

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

// Carries it out. `look_for_record` false: the caller has done that. Errors: StaleConfig when
// nothing was done; the shard's.
Awaitable<absl::StatusOr<KeylessOutcome>> RunKeyless(CommandContext& context,
                                                     const KeylessStatement& statement,
                                                     bool look_for_record = true);

// The stored result of a retryable statement, from whichever shard has it.
Awaitable<absl::StatusOr<std::optional<KeylessOutcome>>> FindRecord(CommandContext& context,
                                                                    RoutePtr route,
                                                                    int32_t statement);

// As kinds are numbered in records.
inline constexpr int32_t kRecordOfUpdate = 2;
inline constexpr int32_t kRecordOfFindAndModify = 4;

}  // namespace evenkeel::router::write
