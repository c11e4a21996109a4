// Implements segments: header, index of contents, sequential reading.
#include "storage/log/segment.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/status.h"

namespace evenkeel::storage {
namespace {

constexpr uint64_t kMagic = 0x0A474F4C4E564B45;  // "EKVNLOG\n"
constexpr uint32_t kFormatVersion = 1;
constexpr size_t kReadBytesMax = 1u << 20;

struct RawSegmentHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t checksum;  // over the rest of the header
  uint64_t number;
  uint64_t salt;
};

uint32_t HeaderChecksum(RawSegmentHeader header) {
  header.checksum = 0;
  return Crc32c(std::string_view(reinterpret_cast<const char*>(&header), sizeof(header)));
}

}  // namespace

std::string EncodeLogSegmentHeader(uint64_t number, uint64_t salt) {
  RawSegmentHeader header{
      .magic = kMagic, .version = kFormatVersion, .checksum = 0, .number = number, .salt = salt};
  header.checksum = HeaderChecksum(header);
  std::string bytes(kLogFirstRecordOffset, '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

absl::StatusOr<LogSegmentHeader> DecodeLogSegmentHeader(std::string_view bytes) {
  RawSegmentHeader header;
  if (bytes.size() < sizeof(header)) {
    return Error(ErrorCode::kUnknownError, "segment header is cut off");
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic || header.checksum != HeaderChecksum(header)) {
    return Error(ErrorCode::kUnknownError, "segment header is damaged");
  }
  if (header.version != kFormatVersion) {
    return Error(ErrorCode::kInvalidOptions, "log format {} is not the known format {}",
                 header.version, kFormatVersion);
  }
  return LogSegmentHeader{.number = header.number, .salt = header.salt};
}

const LogMark& LogSegmentShard::MarkBefore(LogIndex index) const {
  EVENKEEL_CHECK(!marks.empty() && first <= index);
  const auto after =
      std::upper_bound(marks.begin(), marks.end(), index,
                       [](LogIndex wanted, const LogMark& mark) { return wanted < mark.index; });
  return *std::prev(after);
}

void LogSegment::NoteEntry(const LogRecord& entry, uint64_t offset) {
  auto found = std::find_if(shards_.begin(), shards_.end(),
                            [&](const LogSegmentShard& part) { return part.shard == entry.shard; });
  if (found == shards_.end()) {
    shards_.push_back({.shard = entry.shard, .first = entry.index});
    found = std::prev(shards_.end());
  }
  if (found->marks.empty() || offset >= found->marks.back().offset + kLogMarkBytes) {
    found->marks.push_back({.index = entry.index, .offset = offset});
  }
  LogMark& mark = found->marks.back();
  mark.highest = std::max(mark.highest, entry.last_timestamp);
  found->last = entry.index;
  found->highest = std::max(found->highest, entry.last_timestamp);
  highest_ = std::max(highest_, entry.last_timestamp);
}

const LogSegmentShard* LogSegment::Find(ShardId shard) const {
  for (const LogSegmentShard& part : shards_) {
    if (part.shard == shard) return &part;
  }
  return nullptr;
}

absl::StatusOr<std::string_view> LogSegmentReader::Bytes(size_t length) {
  const uint64_t end = buffer_offset_ + buffer_.size();
  if (offset_ < buffer_offset_ || offset_ + length > end) {
    EVENKEEL_ASSIGN_OR_RETURN(buffer_,
                              segment_->file().ReadAt(offset_, std::max(length, read_bytes_)));
    buffer_offset_ = offset_;
    read_bytes_ = std::min(read_bytes_ * 2, kReadBytesMax);
  }
  return std::string_view(buffer_).substr(offset_ - buffer_offset_, length);
}

absl::StatusOr<std::optional<LogRecord>> LogSegmentReader::Next() {
  if (offset_ + kLogRecordHeaderBytes > segment_->capacity()) return std::nullopt;
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view header, Bytes(kLogRecordHeaderBytes));
  if (header.size() < kLogRecordHeaderBytes) return std::nullopt;
  const LogPosition at = segment_->At(offset_);
  const std::optional<size_t> size = LogRecordBytesAt(header, at, segment_->salt());
  if (!size.has_value() || offset_ + *size > segment_->capacity()) return std::nullopt;
  EVENKEEL_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(*size));
  std::optional<LogRecord> record = DecodeLogRecord(bytes, at, segment_->salt());
  if (record.has_value()) offset_ += *size;
  return record;
}

}  // namespace evenkeel::storage
