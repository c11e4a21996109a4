// Writes every document that a statement matches, slice by slice, each at most once.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>

#include "shard/command/write_statement.h"

namespace evenkeel::shard {

struct WriteManyOutcome {
  int64_t matched = 0;
  int64_t modified = 0;
  absl::Status status;  // why it ended early; what is counted stands
};

// `statement` takes the collection's new version when a DDL step comes in between.
// Errors: only those before anything was written. Everything counted is durable.
Awaitable<absl::StatusOr<WriteManyOutcome>> WriteMany(CommandContext& context,
                                                      WriteStatement* statement);

}  // namespace evenkeel::shard
