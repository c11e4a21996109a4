// The log of one shard: what the engine needs of it, so that a replicated log can take its place.
//
// Entries of a shard are numbered without gaps from 1. "Committed" means durable here, and agreed
// once there are replicas. The change log is this log: entries stay readable until they are
// forgotten. DESIGN: storage engine, "Log".
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

// One shard's part of the process's log. Reserve and Append are called by the shard's writer thread
// alone; the rest by any thread.
class ShardLog {
 public:
  virtual ~ShardLog() = default;

  // Called on the log thread, in index order, with the last index that has become committed: once
  // per group that holds entries of the shard. It must be short: it publishes a view and hands
  // completions on.
  //
  // May be replaced (a shard is closed and reopened; null for none): when SetCommittedListener
  // returns, the former listener is not running and will not be called again. Not to be called from
  // a listener, nor with a lock that a listener takes.
  using CommittedListener = std::function<void(LogIndex last)>;
  virtual void SetCommittedListener(CommittedListener listener) = 0;

  // Makes sure that the log has room for the next entry, before its batch is executed. May wait for
  // the disk when a new file is needed.
  //
  // bytes    bounds the payload of the whole entry. A second call before the Append may raise it;
  //          calls do not add up. What is not used serves a later entry. A larger entry is taken
  //          too, but then a full disk ends the process.
  // Errors   OutOfDiskSpace, naming the folder and what is missing; TransactionTooLarge for more
  //          than PayloadBytesMax; ShutdownInProgress.
  virtual absl::Status Reserve(size_t bytes) = 0;
  // The same for a batch that makes room (removals, decisions of transactions, bookkeeping): may
  // use what is kept back for them when the disk is full.
  virtual absl::Status ReserveEssential(size_t bytes) { return Reserve(bytes); }
  // The most that one entry may hold. About a segment: a record never spans two.
  virtual size_t PayloadBytesMax() const { return SIZE_MAX; }
  // Queues the entry; never blocks on the disk and never fails: a failed sync ends the process.
  // Requires the index behind the last one.
  virtual void Append(LogEntry entry) = 0;

  virtual LogIndex committed() const = 0;
  // The oldest entry still kept; committed + 1 when there is none.
  virtual LogIndex first_index() const = 0;
  // Committed entries from `from` on, in order, up to `bytes_max` of payload but at least one if
  // there is one.
  // Errors: CappedPositionLost when `from` is already forgotten; UnknownError for a damaged record,
  // naming file and offset.
  virtual absl::StatusOr<std::vector<LogEntry>> Read(LogIndex from, size_t bytes_max) = 0;
  // Where to begin reading to see every kept entry with a timestamp at or after `at_least`: never
  // behind the first of them, as near before it as the index of the log knows. committed + 1 when
  // there is none.
  virtual LogIndex FindByTimestamp([[maybe_unused]] Timestamp at_least) const {
    return first_index();
  }
  // Removes the entries from `from` on (a new leader's log differs). Only uncommitted ones; waits
  // for a group that is being written.
  // Errors: IllegalOperation when one of them is or has become committed; nothing is removed then.
  virtual absl::Status CutSuffix(LogIndex from) = 0;
  // The shard needs no entry up to and including `last` for its own recovery any more. Not
  // remembered over a restart.
  virtual void Forget(LogIndex last) = 0;
  // Bytes of segments that wait for this shard's Forget: the engine checkpoints the shard that
  // holds most back.
  virtual uint64_t HeldBackBytes() const = 0;
};

}  // namespace evenkeel::storage
