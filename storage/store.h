// The engine of one shard: ordered tables with versions, one writer, a shared log before it and
// LMDB behind it.
//
// Reading: take a ReadSlice, use it for one slice of work, let it go; never keep one across a wait.
// Writing: submit a WriteOp; the writer thread executes it against the newest state; it is finished
// when it is durable.
//
// Invariants
//   I1  Everything a reader sees is durable ("committed" in the log); a view is published by one
//   pointer swap. I2  Operations are finished in the order of their batches, after their effects
//   have become visible. I3  Versions of one key are ordered by commit timestamp; the newest is
//   what the writer sees. I4  LMDB holds, for every key, a version that is at most as new as the
//   last durable batch; replay from the recorded log
//       position makes it exact.
//
// Design: docs/data_layout.md, docs/storage.md.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/types.h"
#include "storage/keys/key_encoding.h"
#include "storage/log/log.h"
#include "storage/table.h"

namespace evenkeel::storage {

class CheckpointStore;
class Overlay;  // storage/read/overlay.h

// What the layers above publish together with the data, e.g. a shard's parsed catalog. Immutable
// once set.
class PublishedState {
 public:
  virtual ~PublishedState() = default;
};

// A moving position in one table, in key order, over everything the slice or the writer sees.
//
// A walk has a limit, for what was removed is passed key by key until it is written to LMDB:
// whoever looks for one record must not walk over everything that was removed behind it. A cursor
// that turns around has no limit any more.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // The first key >= `key`. Nothing at or above `end` is shown; an empty `end` is no limit.
  virtual void Seek(std::string_view key, std::string_view end) = 0;
  // The last key < `key`; the last of all for an empty `key`. Nothing below `begin` is shown.
  virtual void SeekBack(std::string_view key, std::string_view begin) = 0;
  // The first key of those that start with `prefix`, which alone are shown.
  void SeekPrefix(std::string_view prefix) { Seek(prefix, PrefixEnd(prefix)); }
  virtual void Next() = 0;
  virtual void Previous() = 0;
  virtual bool Valid() const = 0;
  virtual std::string_view key() const = 0;  // valid until the cursor moves
  virtual Record record() const = 0;         // valid until the slice or the operation ends
};

// What one operation sees and does on the writer thread. All effects of an operation are in one
// batch.
class WriteContext {
 public:
  virtual ~WriteContext() = default;
  // The commit timestamp of the effects from here on: a fresh tick, taken at the first effect of
  // each unit.
  virtual Timestamp timestamp() = 0;
  // Ends the unit: the next effects get a tick of their own. One statement of a bulk write is one
  // unit.
  virtual void NextUnit() = 0;
  // Ends the unit; the next effects get `timestamp`, which was decided elsewhere, and every later
  // tick lies above it. Requires that no key they touch has a newer version.
  virtual void NextUnitAt(Timestamp timestamp) = 0;

  // The newest state, effects of this operation included.
  virtual std::optional<Record> Get(Table table, std::string_view key) = 0;
  virtual std::unique_ptr<Cursor> NewCursor(Table table) = 0;

  virtual void Put(Table table, std::string_view key, std::string_view value) = 0;
  virtual void Remove(Table table, std::string_view key) = 0;
  virtual void AddToCounter(std::string_view key, Count delta) = 0;
  virtual Count Counter(std::string_view key) = 0;
  // Marks a part of `table` dead: readers of later views do not look there any more (the caller
  // sees to it), the checkpoint thread removes it from LMDB later, without log records. Keys in it
  // are not written before that is done.
  virtual void RemoveRange(Table table, const TableRange& range) = 0;
  // Asks for the right to write a key, or to rely on no other having it; `key` may be the prefix of
  // a unique index's records. Before the effects that need it. Errors: WriteConflict while a
  // transaction holds it.
  virtual absl::Status Claim(Table, std::string_view) { return absl::OkStatus(); }
  // True when the key may have a version (a removal too) newer than `snapshot`: the conflict check
  // of transactions. True also when the history that could tell is gone.
  virtual bool ChangedSince(Table table, std::string_view key, Timestamp snapshot) = 0;

  // Takes back everything since the mark (counters and ranges too).
  virtual size_t Mark() const = 0;
  virtual void RollBackTo(size_t mark) = 0;

  // The state that will be published with this batch; null before the first SetState.
  virtual const std::shared_ptr<const PublishedState>& state() const = 0;
  virtual void SetState(std::shared_ptr<const PublishedState> state) = 0;
};

// One operation for the writer.
class WriteOp {
 public:
  virtual ~WriteOp() = default;
  // Writer thread; short, never waits. Results are kept in the object.
  virtual void Execute(WriteContext& context) = 0;
  // Once, when everything the operation has seen and done is durable and visible; `status` failed
  // when the store closed first (outcome unknown) or could not take the batch (OutOfDiskSpace:
  // nothing happened). On the log thread, or on the writer thread when there is nothing to wait
  // for. Must be short. `timestamp`: the highest commit timestamp visible now. The store drops the
  // operation afterwards.
  virtual void Finished(const absl::Status& status, Timestamp timestamp) = 0;
  // About how many bytes it will write, for admission. Always the same for one operation.
  virtual size_t SizeBytes() const = 0;
  // True for what frees space or ends what others wait for (removals, prepare, commit, abort,
  // decisions): taken past the bound on pending bytes, and on a full disk.
  virtual bool IsEssential() const { return false; }
};

// One consistent state for one slice of work. Move-only, used by one thread, dropped before any
// wait.
class ReadSlice {
 public:
  class Impl;
  explicit ReadSlice(std::unique_ptr<Impl> impl);
  ReadSlice(ReadSlice&&) noexcept;
  ReadSlice& operator=(ReadSlice&&) noexcept;
  ~ReadSlice();

  Timestamp timestamp() const;  // the read timestamp: latest, or the snapshot's
  const PublishedState* state() const;
  std::optional<Record> Get(Table table, std::string_view key) const;
  std::unique_ptr<Cursor> NewCursor(Table table) const;
  // Requires a slice at the latest state.
  Count Counter(std::string_view key) const;
  // Shows these effects on top of everything. They outlive the slice.
  void SetOverlay(const Overlay* overlay) { overlay_ = overlay; }

 private:
  std::unique_ptr<Impl> impl_;
  const Overlay* overlay_ = nullptr;
};

// Keeps the history that reads at `timestamp` need, until it is dropped or the memory budget ends
// it.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual Timestamp timestamp() const = 0;
};

struct StoreOptions {
  std::string folder;                      // of LMDB; made if missing
  uint64_t map_bytes = uint64_t{1} << 40;  // LMDB's address space, not memory
  size_t table_bytes_max = limits::kMemTableBytesMax;
  absl::Duration table_age_max = absl::Seconds(limits::kMemTableAgeSecondsMax);
  size_t history_bytes_max = limits::kHistoryBytesMax;
  absl::Duration history_age_max = absl::Seconds(limits::kHistorySeconds);
  size_t pending_bytes_max = limits::kPendingWriteBytesPerShardMax;
  // Kept free in `folder`, so that a checkpoint can go on when the disk is full.
  uint64_t reserve_bytes = uint64_t{16} << 20;
  // Where checkpoints go instead of LMDB in `folder`: for tests. Null: LMDB.
  std::shared_ptr<CheckpointStore> checkpoint_store;
  // Rows for which this says true are dead and left out by the checkpoint (old retryable-write
  // results). Any thread. May be empty.
  std::function<bool(Table, std::string_view key, std::string_view value)> is_dead;
  // The index entries of a document, removed with it by range removal. May be empty.
  std::function<void(std::string_view doc_key, std::string_view document,
                     std::vector<std::string>* index_keys)>
      index_entries;
};

struct StoreStats {
  uint64_t active_table_bytes = 0, frozen_table_bytes = 0, history_bytes = 0;
  uint64_t lmdb_bytes = 0, pending_bytes = 0, checkpoints = 0, batches = 0, operations = 0;
  uint64_t damaged_documents = 0;  // wrong checksums met by checkpoints
  LogIndex checkpointed;
  Timestamp latest;
};

// What a check of stored documents has found.
struct DocCheck {
  uint64_t checked = 0;
  std::vector<std::string> damaged_keys;
};

// One open shard. Any thread may call it.
class ShardStore {
 public:
  // Opens LMDB, replays the log behind the recorded position, starts the writer and the checkpoint
  // thread. `log`, `clock` outlive the store. Errors: OutOfDiskSpace, Unauthorized-like file errors
  // as OperationFailed naming the path, a damaged file as UnknownError... naming the place.
  static absl::StatusOr<std::unique_ptr<ShardStore>> Open(const StoreOptions& options,
                                                          ShardLog* log, base::HybridClock* clock);
  virtual ~ShardStore() = default;

  // Queues an operation. Errors: ExceededTimeLimit (retryable) when too many bytes are pending;
  // ShutdownInProgress. The operation is dropped then and Finished is not called.
  virtual absl::Status Submit(std::unique_ptr<WriteOp> op) = 0;

  // The latest durable state.
  virtual ReadSlice Read() = 0;
  // What was published with it, alone; null before the first SetState.
  virtual std::shared_ptr<const PublishedState> State() const = 0;
  // The state at `timestamp`. Requires that WhenReadable has reported it. Errors: SnapshotTooOld.
  virtual absl::StatusOr<ReadSlice> ReadAt(Timestamp timestamp) = 0;
  // Moves the clock to at least `timestamp` and calls `ready` (at once in this thread, or later on
  // the log thread) when all batches executed at or below it are durable.
  virtual void WhenReadable(Timestamp timestamp, std::function<void(absl::Status)> ready) = 0;
  virtual absl::StatusOr<std::unique_ptr<Snapshot>> OpenSnapshot(Timestamp timestamp) = 0;

  virtual Timestamp latest() const = 0;
  // No change at or before it will appear any more. Raises the read floor of an idle shard to do
  // so.
  virtual Timestamp ResolvedTimestamp() = 0;

  // Freezes the active table and waits until everything executed so far is in LMDB. For shutdown,
  // tests, compact.
  virtual absl::Status Checkpoint() = 0;
  // Waits until no dead range is left in LMDB.
  virtual absl::Status FinishRemovals() = 0;
  // Copies LMDB into a new, smaller file and swaps it in while writes go on in the log.
  virtual absl::Status Compact() = 0;
  // Checks the checksums of the documents in LMDB with keys in [begin, end); an empty `end` is no
  // bound. For validate. Reads everything: run it on a pool thread. Checkpoint first to include
  // what is still in memory.
  virtual absl::StatusOr<DocCheck> CheckDocs(std::string_view begin, std::string_view end) = 0;
  // Ends the threads: finishes what was submitted, checkpoints, closes. Later calls fail with
  // ShutdownInProgress.
  virtual absl::Status Close() = 0;
  virtual StoreStats Stats() const = 0;
};

}  // namespace evenkeel::storage
