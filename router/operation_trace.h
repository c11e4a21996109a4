// What a request has made shards do, collected for the log while its calls return, and the line
// that is logged when it took long.
//
// Thread: the network's.
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/time/time.h>

#include <cstdint>
#include <string>

#include "base/bson/view.h"
#include "base/types.h"
#include "wire/protocol/request.h"

namespace evenkeel::router {

struct CommandContext;

struct OperationTrace {
  explicit OperationTrace(uint64_t of) : operation(of) {}

  // Takes note of a shard's reply; its field `$stats` brings plan and counts.
  void Note(ShardId shard, bson::View reply);

  const uint64_t operation;                // the id of the request
  absl::InlinedVector<ShardId, 4> shards;  // that were asked, by number
  std::string plan;                        // of the first shard that told
  int64_t keys_examined = 0, docs_examined = 0;
};

// Logs the command if it took longer than slowms.
//
// reply  the whole document that answers it.
void LogIfSlow(const CommandContext& context, bson::View reply, absl::Duration took);

}  // namespace evenkeel::router
