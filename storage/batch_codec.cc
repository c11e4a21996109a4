// Implements the encoding of batches.
#include "storage/batch_codec.h"

#include <cstring>
#include <utility>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

void AppendVarint(uint64_t number, std::string* out) {
  while (number >= 0x80) {
    out->push_back(static_cast<char>(number | 0x80));
    number >>= 7;
  }
  out->push_back(static_cast<char>(number));
}

void AppendBytes(std::string_view bytes, std::string* out) {
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

void AppendFixed64(uint64_t number, std::string* out) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));  // little-endian, as all machines this is built for
  out->append(bytes, sizeof(bytes));
}

bool TakeVarint(std::string_view* in, uint64_t* number) {
  *number = 0;
  for (int shift = 0; shift < 64 && !in->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    *number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeBytes(std::string_view* in, std::string_view* bytes) {
  uint64_t size = 0;
  if (!TakeVarint(in, &size) || size > in->size()) return false;
  *bytes = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

bool TakeFixed64(std::string_view* in, uint64_t* number) {
  if (in->size() < sizeof(*number)) return false;
  std::memcpy(number, in->data(), sizeof(*number));
  in->remove_prefix(sizeof(*number));
  return true;
}

bool TakeTable(std::string_view* in, Table* table) {
  if (in->empty() || static_cast<uint8_t>(in->front()) >= kTableCount) return false;
  *table = static_cast<Table>(in->front());
  in->remove_prefix(1);
  return true;
}

bool TakeCount(std::string_view* in, Count* count) {
  uint64_t documents = 0;
  uint64_t bytes = 0;
  if (!TakeFixed64(in, &documents) || !TakeFixed64(in, &bytes)) return false;
  *count = {static_cast<int64_t>(documents), static_cast<int64_t>(bytes)};
  return true;
}

bool TakeHashes(std::string_view* in, HashSpan* hashes) {
  uint64_t first = 0;
  uint64_t last = 0;
  if (!TakeFixed64(in, &first) || !TakeFixed64(in, &last)) return false;
  *hashes = {static_cast<int64_t>(first), static_cast<int64_t>(last)};
  return true;
}

// Fills what belongs to record->kind. False when the payload is damaged or the kind unknown.
bool TakeBody(std::string_view* in, BatchRecord* record) {
  switch (record->kind) {
    case BatchRecordKind::kUnit:
    case BatchRecordKind::kClockBound:
      return TakeFixed64(in, &record->timestamp.bits);
    case BatchRecordKind::kPut:
      return TakeTable(in, &record->table) && TakeBytes(in, &record->key) &&
             TakeBytes(in, &record->value);
    case BatchRecordKind::kRemoveRange:
      return TakeTable(in, &record->table) && TakeBytes(in, &record->key) &&
             TakeBytes(in, &record->value) && TakeHashes(in, &record->hashes);
    case BatchRecordKind::kRemove:
      return TakeTable(in, &record->table) && TakeBytes(in, &record->key);
    case BatchRecordKind::kCounter:
      record->table = Table::kCounters;
      return TakeBytes(in, &record->key) && TakeCount(in, &record->count);
    case BatchRecordKind::kPrepare:
    case BatchRecordKind::kDecision:
      break;
  }
  return false;
}

}  // namespace

void BatchWriter::Start(BatchRecordKind kind) {
  if (payload_.empty()) payload_.push_back(kBatchFormat);
  payload_.push_back(static_cast<char>(kind));
}

void BatchWriter::Unit(Timestamp timestamp) {
  Start(BatchRecordKind::kUnit);
  AppendFixed64(timestamp.bits, &payload_);
}

void BatchWriter::Put(Table table, std::string_view key, std::string_view value) {
  Start(BatchRecordKind::kPut);
  payload_.push_back(static_cast<char>(table));
  AppendBytes(key, &payload_);
  AppendBytes(value, &payload_);
}

void BatchWriter::Remove(Table table, std::string_view key) {
  Start(BatchRecordKind::kRemove);
  payload_.push_back(static_cast<char>(table));
  AppendBytes(key, &payload_);
}

void BatchWriter::Counter(std::string_view key, Count count) {
  Start(BatchRecordKind::kCounter);
  AppendBytes(key, &payload_);
  AppendFixed64(static_cast<uint64_t>(count.documents), &payload_);
  AppendFixed64(static_cast<uint64_t>(count.bytes), &payload_);
}

void BatchWriter::RemoveRange(Table table, const TableRange& range) {
  Start(BatchRecordKind::kRemoveRange);
  payload_.push_back(static_cast<char>(table));
  AppendBytes(range.begin, &payload_);
  AppendBytes(range.end, &payload_);
  AppendFixed64(static_cast<uint64_t>(range.hashes.first), &payload_);
  AppendFixed64(static_cast<uint64_t>(range.hashes.last), &payload_);
}

void BatchWriter::ClockBound(Timestamp bound) {
  Start(BatchRecordKind::kClockBound);
  AppendFixed64(bound.bits, &payload_);
}

std::string BatchWriter::Take() { return std::exchange(payload_, std::string()); }

absl::StatusOr<bool> BatchReader::Next(BatchRecord* record) {
  if (!started_) {
    if (rest_.empty()) return false;
    if (rest_.front() != kBatchFormat) {
      return Error(ErrorCode::kOperationFailed, "log entry of unknown format {}",
                   int{rest_.front()});
    }
    rest_.remove_prefix(1);
    started_ = true;
  }
  if (rest_.empty()) return false;
  *record = BatchRecord{.kind = static_cast<BatchRecordKind>(rest_.front()), .timestamp = unit_};
  rest_.remove_prefix(1);
  if (!TakeBody(&rest_, record)) {
    return Error(ErrorCode::kOperationFailed, "damaged or unknown log record of kind {}",
                 static_cast<int>(record->kind));
  }
  if (record->kind == BatchRecordKind::kUnit) unit_ = record->timestamp;
  return true;
}

}  // namespace evenkeel::storage
