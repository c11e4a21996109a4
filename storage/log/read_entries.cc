// Implements reading entries back.
#include "storage/log/read_entries.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

LogEntry ToEntry(const LogRecord& record) {
  return {.index = record.index,
          .term = record.term,
          .first_timestamp = record.first_timestamp,
          .last_timestamp = record.last_timestamp,
          .payload = std::string(record.payload)};
}

}  // namespace

absl::StatusOr<std::vector<LogEntry>> ReadLogEntries(const std::vector<LogReadPart>& plan,
                                                     ShardId shard, LogIndex from, LogIndex to,
                                                     size_t bytes_max) {
  std::vector<LogEntry> entries;
  LogIndex next = from;
  size_t bytes = 0;
  for (const LogReadPart& part : plan) {
    LogSegmentReader reader(part.segment.get(), part.offset);
    const LogIndex last = std::min(part.last, to);
    while (next <= last) {
      const uint64_t offset = reader.offset();
      EVENKEEL_ASSIGN_OR_RETURN(const std::optional<LogRecord> record, reader.Next());
      if (!record.has_value()) {
        return Error(ErrorCode::kUnknownError, "{}: damaged at offset {}: no whole record",
                     part.segment->path(), offset);
      }
      if (record->kind != LogRecordKind::kEntry || record->shard != shard || record->index < next) {
        continue;
      }
      if (!entries.empty() && bytes + record->payload.size() > bytes_max) return entries;
      bytes += record->payload.size();
      entries.push_back(ToEntry(*record));
      ++next.value;
    }
  }
  return entries;
}

}  // namespace evenkeel::storage
