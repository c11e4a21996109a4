// The bytes of one log record, encoded and checked. Pure: no files, no clock.
//
// A record is a header of 64 bytes and a payload, padded to 8 bytes; all numbers are little-endian:
//
//   0 checksum u32 | 4 payload bytes u32 | 8 place u64 | 16 durable u64 | 24 shard u32
//   28 kind u32 | 32 index u64 | 40 term u64 | 48 first timestamp u64 | 56 last timestamp u64
//   64 payload
//
// Invariants
//   I1  The checksum (CRC32C) covers payload and header, so a record is whole or not a record.
//   I2  `place` is the record's position combined with the salt of its segment, a random number
//       drawn anew whenever a file becomes a segment: bytes of a recycled file or inside a client's
//       document never pass for a record.
//   I3  Everything before `durable` was known to be on the disk when the record was written.
//
// Design: docs/data_layout.md.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace evenkeel::storage {

// A byte of the log: segment number and offset in it. Ordered.
struct LogPosition {
  uint64_t bits = 0;

  static constexpr LogPosition At(uint64_t segment, uint64_t offset) {
    return {segment << 32 | offset};
  }
  constexpr uint64_t segment() const { return bits >> 32; }
  constexpr uint64_t offset() const { return bits & 0xFFFFFFFFu; }
  friend constexpr auto operator<=>(LogPosition, LogPosition) = default;
};

enum class LogRecordKind : uint32_t {
  kEntry = 1,    // a batch of a shard
  kStart = 2,    // first record of each segment: where every shard's numbering stands
  kClosing = 3,  // holds nothing; claims durability for what is before it
};

struct LogRecord {
  LogRecordKind kind = LogRecordKind::kEntry;
  ShardId shard;
  LogIndex index;
  uint64_t term = 0;
  Timestamp first_timestamp;
  Timestamp last_timestamp;
  LogPosition durable;
  std::string_view payload;
};

inline constexpr size_t kLogRecordHeaderBytes = 64;
inline constexpr size_t kLogRecordAlignment = 8;

// Bytes of a whole record with a payload of this size.
constexpr size_t LogRecordBytes(size_t payload_bytes) {
  return (kLogRecordHeaderBytes + payload_bytes + kLogRecordAlignment - 1) / kLogRecordAlignment *
         kLogRecordAlignment;
}

// CRC32C of `bytes`.
uint32_t Crc32c(std::string_view bytes);

// The part of a record's checksum that does not depend on its position: computed by whoever has
// time for it.
uint32_t LogPayloadChecksum(std::string_view payload);

// Appends the record that will stand at `at`. `payload_checksum` is LogPayloadChecksum of its
// payload.
void AppendLogRecord(const LogRecord& record, uint32_t payload_checksum, LogPosition at,
                     uint64_t salt, std::string* out);

// Bytes of the whole record whose header `bytes` begin with; nothing if no record was written for
// this place. The record may still be damaged. Requires kLogRecordHeaderBytes bytes.
std::optional<size_t> LogRecordBytesAt(std::string_view bytes, LogPosition at, uint64_t salt);

// The whole record at the beginning of `bytes`; nothing if it is damaged, cut off or of another
// place. Its payload points into `bytes`.
std::optional<LogRecord> DecodeLogRecord(std::string_view bytes, LogPosition at, uint64_t salt);

// The last index of one shard before a segment: the payload of a start record is a list of them.
struct LogShardStart {
  ShardId shard;
  LogIndex last;
  friend bool operator==(const LogShardStart&, const LogShardStart&) = default;
};
std::string EncodeLogStart(const std::vector<LogShardStart>& shards);
// Errors: InvalidLength when the payload is not a list of that form.
absl::StatusOr<std::vector<LogShardStart>> DecodeLogStart(std::string_view payload);

}  // namespace evenkeel::storage
