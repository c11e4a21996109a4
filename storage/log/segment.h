// One segment of the log: a file of fixed size with a header and records, and what is known about
// its contents.
//
// A segment file carries its number in its name and in its header, next to the salt of its records
// (record.h). It gets its name only after its header and its space are durable: a segment whose
// header cannot be read is damaged. The index of contents is guarded by the owner's mutex;
// everything else is fixed or safe for any thread.
//
// Design: docs/data_layout.md.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "storage/file.h"
#include "storage/log/record.h"

namespace evenkeel::storage {

// Behind the header, whose sector is never written again.
inline constexpr uint64_t kLogFirstRecordOffset = 512;
// The distance of the places that are known by index.
inline constexpr uint64_t kLogMarkBytes = 64u << 10;

// The header of segment `number`.
std::string EncodeLogSegmentHeader(uint64_t number, uint64_t salt);
struct LogSegmentHeader {
  uint64_t number = 0;
  uint64_t salt = 0;
};
// Errors: UnknownError for a damaged header, InvalidOptions for another version of the format.
absl::StatusOr<LogSegmentHeader> DecodeLogSegmentHeader(std::string_view bytes);

// Where an entry of a shard begins, and the highest timestamp from it up to the next mark.
struct LogMark {
  LogIndex index;
  uint64_t offset = 0;
  Timestamp highest;
};

// What a segment holds of one shard.
struct LogSegmentShard {
  ShardId shard;
  LogIndex first;
  LogIndex last;
  Timestamp highest;
  std::vector<LogMark> marks;  // by index; the first is the first entry

  // The last mark at or before `index`. Requires first <= index.
  const LogMark& MarkBefore(LogIndex index) const;
};

class LogSegment {
 public:
  LogSegment(const LogSegmentHeader& header, std::string path, std::unique_ptr<File> file)
      : header_(header),
        capacity_(file->SizeBytes()),
        path_(std::move(path)),
        file_(std::move(file)) {}

  uint64_t number() const { return header_.number; }
  uint64_t salt() const { return header_.salt; }
  uint64_t capacity() const { return capacity_; }
  const std::string& path() const { return path_; }
  File& file() const { return *file_; }
  LogPosition At(uint64_t offset) const { return LogPosition::At(header_.number, offset); }

  // Notes an entry that begins at `offset`. Entries of a shard come in order.
  void NoteEntry(const LogRecord& entry, uint64_t offset);
  // Null when there is no entry of that shard.
  const LogSegmentShard* Find(ShardId shard) const;
  const std::vector<LogSegmentShard>& shards() const { return shards_; }
  // Of all entries; zero when there is none.
  Timestamp highest() const { return highest_; }

 private:
  const LogSegmentHeader header_;
  const uint64_t capacity_;
  const std::string path_;
  const std::unique_ptr<File> file_;
  std::vector<LogSegmentShard> shards_;
  Timestamp highest_;
};

// Reads a segment's records one after another. Used by one thread.
class LogSegmentReader {
 public:
  // `segment` outlives the reader; `offset` is where a record begins.
  LogSegmentReader(const LogSegment* segment, uint64_t offset)
      : segment_(segment), offset_(offset) {}

  // The record at offset(), which moves behind it; its payload is valid until the next call.
  // Nothing, and no move, where there is no whole record: the end, or damage.
  // Errors: those of File::ReadAt.
  absl::StatusOr<std::optional<LogRecord>> Next();
  uint64_t offset() const { return offset_; }

 private:
  // The bytes from offset_ on, `length` or fewer at the end of the file.
  absl::StatusOr<std::string_view> Bytes(size_t length);

  const LogSegment* segment_;
  uint64_t offset_;
  std::string buffer_;
  uint64_t buffer_offset_ = 0;
  size_t read_bytes_ = 16u << 10;  // doubled up to 1 MB: one entry or many
};

}  // namespace evenkeel::storage
