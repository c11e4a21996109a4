// The payload of a log entry: the effects of one batch, absolute and repeatable.
//
// A version byte, then records one after another. A unit record gives the commit timestamp of the
// records behind it. Readers of the log (recovery, moves, streams) decode it with BatchReader; the
// writer encodes as it executes. Pure. Format: docs/data_layout.md.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/types.h"
#include "storage/table.h"

namespace evenkeel::storage {

inline constexpr char kBatchFormat = 2;

enum class BatchRecordKind : uint8_t {
  kUnit = 1,  // the commit timestamp of what follows
  kPut = 2,
  kRemove = 3,
  kCounter = 4,      // absolute value after the batch
  kRemoveRange = 5,  // [key, value) is dead, of documents those with `hashes`
  kClockBound = 6,   // timestamps up to it may be issued or served
  kPrepare = 7,      // reserved: prepared effects of a transaction
  kDecision = 8,     // reserved: the outcome of a transaction
};

struct BatchRecord {
  BatchRecordKind kind = BatchRecordKind::kUnit;
  Table table = Table::kDocs;
  std::string_view key;    // into the payload; the begin of a range
  std::string_view value;  // into the payload; the end of a range
  Timestamp timestamp;     // of the unit the record belongs to; the bound
  Count count;             // of counters
  HashSpan hashes = {};    // of a range
};

// Appends records to a payload. An empty payload gets its version byte with the first record.
class BatchWriter {
 public:
  void Unit(Timestamp timestamp);
  void Put(Table table, std::string_view key, std::string_view value);
  void Remove(Table table, std::string_view key);
  void Counter(std::string_view key, Count count);
  void RemoveRange(Table table, const TableRange& range);
  void ClockBound(Timestamp bound);

  // Makes room, so that the payload need not grow in steps.
  void Reserve(size_t bytes) { payload_.reserve(bytes); }
  bool empty() const { return payload_.empty(); }
  size_t size() const { return payload_.size(); }
  // Drops everything behind the first `size` bytes. Requires a size that size() has returned.
  void CutTo(size_t size) { payload_.resize(size); }
  // The payload; the writer is empty afterwards.
  std::string Take();

 private:
  void Start(BatchRecordKind kind);

  std::string payload_;
};

// Walks over the records of a payload, which outlives the reader.
class BatchReader {
 public:
  explicit BatchReader(std::string_view payload) : rest_(payload) {}

  // True with the next record in `record`; false at the end.
  // Errors: OperationFailed for a payload that is cut off, of another format, or holds an unknown
  // record.
  absl::StatusOr<bool> Next(BatchRecord* record);

 private:
  std::string_view rest_;
  bool started_ = false;
  Timestamp unit_;
};

}  // namespace evenkeel::storage
