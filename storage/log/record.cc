// Implements the encoding of log records.
#include "storage/log/record.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/status.h"

namespace evenkeel::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written in place");

// The header as it lies on the disk.
struct RawHeader {
  uint32_t checksum;
  uint32_t payload_bytes;
  uint64_t place;
  uint64_t durable;
  uint32_t shard;
  uint32_t kind;
  uint64_t index;
  uint64_t term;
  uint64_t first_timestamp;
  uint64_t last_timestamp;
};
static_assert(sizeof(RawHeader) == kLogRecordHeaderBytes);

constexpr uint32_t kChecksumStart = 0xFFFFFFFFu;
constexpr size_t kChecksumBytes = sizeof(uint32_t);
constexpr size_t kStartRowBytes = sizeof(uint32_t) + sizeof(uint64_t);

// Goes on with a checksum whose final complement has not been taken.
uint32_t ExtendChecksum(uint32_t state, std::string_view bytes) {
  constexpr size_t kPieceBytes = 1u << 30;  // the library counts in int
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPieceBytes);
    // The library does not write to the buffer; its parameter only lacks the const.
    state = crc32_iscsi(reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data())),
                        static_cast<int>(piece.size()), state);
    bytes.remove_prefix(piece.size());
  }
  return state;
}

uint32_t FinishChecksum(uint32_t payload_checksum, const RawHeader& header) {
  const std::string_view bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  return ~ExtendChecksum(payload_checksum, bytes.substr(kChecksumBytes));
}

bool IsKnownKind(uint32_t kind) {
  return kind >= static_cast<uint32_t>(LogRecordKind::kEntry) &&
         kind <= static_cast<uint32_t>(LogRecordKind::kClosing);
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) { return ~ExtendChecksum(kChecksumStart, bytes); }

uint32_t LogPayloadChecksum(std::string_view payload) {
  return ExtendChecksum(kChecksumStart, payload);
}

void AppendLogRecord(const LogRecord& record, uint32_t payload_checksum, LogPosition at,
                     uint64_t salt, std::string* out) {
  EVENKEEL_DCHECK(at.offset() % kLogRecordAlignment == 0);
  RawHeader header{
      .checksum = 0,
      .payload_bytes = static_cast<uint32_t>(record.payload.size()),
      .place = at.bits ^ salt,
      .durable = record.durable.bits,
      .shard = record.shard.value,
      .kind = static_cast<uint32_t>(record.kind),
      .index = record.index.value,
      .term = record.term,
      .first_timestamp = record.first_timestamp.bits,
      .last_timestamp = record.last_timestamp.bits,
  };
  header.checksum = FinishChecksum(payload_checksum, header);
  out->append(reinterpret_cast<const char*>(&header), sizeof(header));
  out->append(record.payload);
  const size_t size = sizeof(header) + record.payload.size();
  out->append(LogRecordBytes(record.payload.size()) - size, '\0');
}

std::optional<size_t> LogRecordBytesAt(std::string_view bytes, LogPosition at, uint64_t salt) {
  RawHeader header;
  EVENKEEL_DCHECK(bytes.size() >= sizeof(header));
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.place != (at.bits ^ salt)) return std::nullopt;
  return LogRecordBytes(header.payload_bytes);
}

std::optional<LogRecord> DecodeLogRecord(std::string_view bytes, LogPosition at, uint64_t salt) {
  if (bytes.size() < kLogRecordHeaderBytes) return std::nullopt;
  const std::optional<size_t> size = LogRecordBytesAt(bytes, at, salt);
  if (!size.has_value() || *size > bytes.size()) return std::nullopt;
  RawHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::string_view payload = bytes.substr(sizeof(header), header.payload_bytes);
  if (header.checksum != FinishChecksum(LogPayloadChecksum(payload), header)) return std::nullopt;
  if (!IsKnownKind(header.kind)) return std::nullopt;
  return LogRecord{
      .kind = static_cast<LogRecordKind>(header.kind),
      .shard = {header.shard},
      .index = {header.index},
      .term = header.term,
      .first_timestamp = {header.first_timestamp},
      .last_timestamp = {header.last_timestamp},
      .durable = {header.durable},
      .payload = payload,
  };
}

std::string EncodeLogStart(const std::vector<LogShardStart>& shards) {
  std::string payload;
  payload.reserve(shards.size() * kStartRowBytes);
  for (const LogShardStart& start : shards) {
    payload.append(reinterpret_cast<const char*>(&start.shard.value), sizeof(uint32_t));
    payload.append(reinterpret_cast<const char*>(&start.last.value), sizeof(uint64_t));
  }
  return payload;
}

absl::StatusOr<std::vector<LogShardStart>> DecodeLogStart(std::string_view payload) {
  if (payload.size() % kStartRowBytes != 0) {
    return Error(ErrorCode::kInvalidLength, "a start record of {} bytes is no list of shards",
                 payload.size());
  }
  std::vector<LogShardStart> shards;
  for (size_t at = 0; at < payload.size(); at += kStartRowBytes) {
    LogShardStart start;
    std::memcpy(&start.shard.value, payload.data() + at, sizeof(uint32_t));
    std::memcpy(&start.last.value, payload.data() + at + sizeof(uint32_t), sizeof(uint64_t));
    shards.push_back(start);
  }
  return shards;
}

}  // namespace evenkeel::storage
