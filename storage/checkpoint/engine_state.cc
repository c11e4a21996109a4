// Implements the rows of the engine's own database.
#include "storage/checkpoint/engine_state.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

constexpr std::string_view kFormatRow = "format";
constexpr std::string_view kPositionRow = "position";
constexpr std::string_view kRemovalPrefix = "removal/";

void AppendBigEndian(uint64_t number, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(number >> shift));
}

// table, timestamp, first and last hash, length of begin, begin, end
std::string EncodeRange(const DeadRange& range) {
  std::string bytes(1, static_cast<char>(range.table));
  AppendBigEndian(range.marked.bits, &bytes);
  AppendBigEndian(static_cast<uint64_t>(range.keys.hashes.first), &bytes);
  AppendBigEndian(static_cast<uint64_t>(range.keys.hashes.last), &bytes);
  AppendBigEndian(range.keys.begin.size(), &bytes);
  return bytes + range.keys.begin + range.keys.end;
}

uint64_t ReadBigEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes.substr(0, 8)) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

absl::StatusOr<DeadRange> DecodeRange(std::string_view bytes) {
  constexpr size_t kHeadBytes = 33;
  if (bytes.size() >= kHeadBytes && static_cast<uint8_t>(bytes[0]) < kTableCount) {
    const uint64_t begin_bytes = ReadBigEndian(bytes.substr(25));
    if (begin_bytes <= bytes.size() - kHeadBytes) {
      return DeadRange{static_cast<Table>(bytes[0]),
                       {std::string(bytes.substr(kHeadBytes, begin_bytes)),
                        std::string(bytes.substr(kHeadBytes + begin_bytes)),
                        {static_cast<int64_t>(ReadBigEndian(bytes.substr(9))),
                         static_cast<int64_t>(ReadBigEndian(bytes.substr(17)))}},
                       Timestamp{ReadBigEndian(bytes.substr(1))}};
    }
  }
  return Error(ErrorCode::kUnknownError, "damaged row of a range to remove, {} bytes long",
               bytes.size());
}

absl::Status WriteFormat(CheckpointStore* store) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointWriter> writer, store->BeginWrite());
  std::string row(sizeof(kEngineFormat), '\0');
  std::memcpy(row.data(), &kEngineFormat, sizeof(kEngineFormat));
  EVENKEEL_RETURN_IF_ERROR(writer->Put(kEngineDatabase, kFormatRow, {}, row));
  return writer->Commit();
}

absl::Status CheckFormat(std::string_view row) {
  uint32_t format = 0;
  if (row.size() == sizeof(format)) std::memcpy(&format, row.data(), sizeof(format));
  if (format == kEngineFormat) return absl::OkStatus();
  return Error(ErrorCode::kOperationFailed,
               "the data have format {}, this program reads format {} only: start the program that "
               "wrote them, take the data out with mongodump, and bring them into a new folder "
               "with mongorestore",
               format, kEngineFormat);
}

absl::Status ReadPosition(std::string_view row, CheckpointPosition* position) {
  if (row.size() != sizeof(*position)) {
    return Error(ErrorCode::kUnknownError, "damaged row of the log position, {} bytes long",
                 row.size());
  }
  std::memcpy(position, row.data(), sizeof(*position));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EngineState> LoadEngineState(CheckpointStore* store) {
  EngineState state;
  EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader, store->BeginRead());
  const std::optional<std::string_view> format = reader->Get(kEngineDatabase, kFormatRow);
  if (!format.has_value()) {
    EVENKEEL_RETURN_IF_ERROR(WriteFormat(store));
    return state;
  }
  EVENKEEL_RETURN_IF_ERROR(CheckFormat(*format));
  if (const auto row = reader->Get(kEngineDatabase, kPositionRow)) {
    EVENKEEL_RETURN_IF_ERROR(ReadPosition(*row, &state.position));
  }
  const std::unique_ptr<CheckpointCursor> cursor = reader->NewCursor(kEngineDatabase);
  for (cursor->Seek(kRemovalPrefix); cursor->Valid() && cursor->key().starts_with(kRemovalPrefix);
       cursor->Next()) {
    EVENKEEL_ASSIGN_OR_RETURN(DeadRange range, DecodeRange(cursor->value()));
    state.removals.push_back({std::string(cursor->key()), std::move(range)});
  }
  return state;
}

absl::Status PutPosition(CheckpointWriter* writer, const CheckpointPosition& position) {
  static_assert(sizeof(CheckpointPosition) == 24);
  return writer->Put(kEngineDatabase, kPositionRow, {},
                     {reinterpret_cast<const char*>(&position), sizeof(position)});
}

std::vector<PendingRemoval> RemovalsOf(const MemTable& table) {
  std::vector<PendingRemoval> removals;
  for (const DeadRange& range : table.dead_ranges()) {
    std::string row(kRemovalPrefix);
    AppendBigEndian(table.last_index().value, &row);
    AppendBigEndian(removals.size(), &row);
    removals.push_back({std::move(row), range});
  }
  return removals;
}

absl::Status PutRemoval(CheckpointWriter* writer, const PendingRemoval& removal) {
  return writer->Put(kEngineDatabase, removal.row, {}, EncodeRange(removal.range));
}

}  // namespace evenkeel::storage
