// The log of one shard: what the engine needs of it, so that a replicated log can take its place.
//
// Entries of a shard are numbered without gaps from 1. "Committed" means durable here, and agreed once there are replicas.
// The change log is this log: entries stay readable until they are forgotten. DESIGN: storage engine, "Log".
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace evenkeel::storage {

// One batch of a shard's writer.
struct LogEntry {
  LogIndex index;
  uint64_t term = 1;
  Timestamp first_timestamp;  // lowest and highest commit timestamp in the batch
  Timestamp last_timestamp;
  std::string payload;  // storage/batch_codec.h
};

// One shard's part of the process's log. Append is called by the shard's writer thread alone; the rest by any thread.
class ShardLog {
 public:
  virtual ~ShardLog() = default;

  // Called on the log thread, in index order, with the last index that has become committed. Set once, before the first Append.
  // It must be short: it publishes a view and hands completions on.
  using CommittedListener = std::function<void(LogIndex last)>;
  virtual void SetCommittedListener(CommittedListener listener) = 0;

  // True when the disk has room for `bytes` more in the log; reserves them for the next Append. Called before a batch is executed.
  // Errors: OutOfDiskSpace, naming the folder and what is missing.
  virtual absl::Status Reserve(size_t bytes) = 0;
  // Queues the entry; never blocks on the disk and never fails: a failed sync ends the process.
  virtual void Append(LogEntry entry) = 0;

  virtual LogIndex committed() const = 0;
  virtual LogIndex first_index() const = 0;  // the oldest entry still kept
  // Entries from `from` on, in order, up to `bytes_max` of payload but at least one if there is one.
  // Errors: CappedPositionLost when `from` is already forgotten.
  virtual absl::StatusOr<std::vector<LogEntry>> Read(LogIndex from, size_t bytes_max) = 0;
  // Removes the entries from `from` on (a new leader's log differs). Only uncommitted ones.
  virtual absl::Status CutSuffix(LogIndex from) = 0;
  // The shard needs no entry up to and including `last` for its own recovery any more.
  virtual void Forget(LogIndex last) = 0;
  // Bytes of segments that wait for this shard's Forget: the engine checkpoints the shard that holds most back.
  virtual uint64_t HeldBackBytes() const = 0;
};

}  // namespace evenkeel::storage
