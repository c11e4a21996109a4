// What a router adds to a command that it sends to a shard: the field `$shard`.
//
// A shard executes the client's own commands (find, insert …) with this field beside them, and
// internal ones whose names start with "_". docs/internal_protocol.md lists both.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bson/builder.h"
#include "base/bson/view.h"
#include "base/types.h"

namespace evenkeel::wire {

inline constexpr std::string_view kShardField = "$shard";

// The moment of one command, taken by the router that it came to: what $$NOW and $$CLUSTER_TIME are
// on every shard.
struct CommandTimes {
  int64_t now_ms = 0;
  Timestamp cluster_time;
};

struct ShardEnvelope {
  CollectionId collection;            // c
  CatalogVersion version;             // v: of the collection's entry as the router knows it
  std::optional<CommandTimes> times;  // n, k: of commands that evaluate expressions
  bool merge = false;  // m: several shards answer: rows carry "$sortKey", groups are partial
  bool early =
      false;  // e: insert answers when executed; the router asks `_waitDurable` before it answers
  std::string_view
      target;  // t: the document key that a keyless write has chosen (binary); empty: none
  bson::View statements;  // s: array of the statement ids of this part of a retryable write; empty:
                          // 0, 1, 2 …
  bson::View only;        // o: array of parts (catalog/part.h): of a write of many documents, which
                          // leaves out what is not in all of them
};

void AppendEnvelope(bson::Builder& builder, const ShardEnvelope& envelope);
// Errors: InvalidOptions when the field is absent or malformed.
absl::StatusOr<ShardEnvelope> ParseEnvelope(bson::View body);

}  // namespace evenkeel::wire
