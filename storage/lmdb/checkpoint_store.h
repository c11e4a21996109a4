// Where checkpoints go: ordered databases with readers at a consistent state and one writer whose
// transactions are atomic and durable. LMDB is the real one; tests use one in memory that can lose
// power.
//
// Readers may be used by any thread, one at a time; the writer by the checkpoint thread. Values
// read stay valid until their reader is dropped.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/table.h"

namespace evenkeel::storage {

// The tables of the shard, by their numbers, and one database of the engine itself (log position,
// dead ranges).
inline constexpr size_t kEngineDatabase = kTableCount;
inline constexpr size_t kDatabaseCount = kTableCount + 1;

constexpr size_t DatabaseOf(Table table) { return static_cast<size_t>(table); }

// A position in one database, in key order.
class CheckpointCursor {
 public:
  virtual ~CheckpointCursor() = default;
  virtual void Seek(std::string_view key) = 0;  // first key >= `key`
  virtual void SeekBack(
      std::string_view key) = 0;  // last key < `key`; the last of all for an empty `key`
  virtual void Next() = 0;
  virtual void Previous() = 0;
  virtual bool Valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
};

// One consistent state. Cursors end before their reader.
class CheckpointReader {
 public:
  virtual ~CheckpointReader() = default;
  virtual std::optional<std::string_view> Get(size_t database, std::string_view key) = 0;
  virtual std::unique_ptr<CheckpointCursor> NewCursor(size_t database) = 0;
};

// One write transaction. Dropped without Commit it changes nothing.
class CheckpointWriter {
 public:
  virtual ~CheckpointWriter() = default;
  // What the transaction sees; valid until its next change.
  virtual absl::StatusOr<std::optional<std::string_view>> Get(size_t database,
                                                              std::string_view key) = 0;
  // The first entry with a key >= `key`; false when there is none.
  virtual absl::StatusOr<bool> FindAtLeast(size_t database, std::string_view key,
                                           std::string* found_key, std::string* found_value) = 0;
  // Stores `head` and `body` joined. Cheapest right after Get of the same key, in key order.
  virtual absl::Status Put(size_t database, std::string_view key, std::string_view head,
                           std::string_view body) = 0;
  // Removing what is not there is fine.
  virtual absl::Status Remove(size_t database, std::string_view key) = 0;
  // About how many pages a commit would write.
  virtual size_t DirtyPages() const = 0;
  // Makes the changes durable and visible, all or nothing.
  // Errors: OutOfDiskSpace (may be tried again later); OperationFailed for everything else.
  virtual absl::Status Commit() = 0;
};

class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  // The newest committed state. Waits when too many readers are in use.
  // Errors: OperationFailed.
  virtual absl::StatusOr<std::unique_ptr<CheckpointReader>> BeginRead() = 0;
  virtual absl::StatusOr<std::unique_ptr<CheckpointWriter>> BeginWrite() = 0;
  // Copies everything into a new file and swaps it in. No write transaction may be open.
  // Errors: OutOfDiskSpace, OperationFailed: the old file stays in use.
  virtual absl::Status Compact() = 0;
  virtual uint64_t SizeBytes() const = 0;
};

}  // namespace evenkeel::storage
