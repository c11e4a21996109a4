// Implements the replay of the log.
#include "storage/replay.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/fail_point.h"
#include "base/status.h"
#include "storage/batch_codec.h"
#include "storage/memory/mem_table.h"

namespace evenkeel::storage {
namespace {

constexpr size_t kReadBytes = size_t{8} << 20;

// What one record does to the table; the highest timestamp and bound are collected.
void ApplyRecord(const BatchRecord& record, LogIndex index, MemTable* table, Replayed* found) {
  switch (record.kind) {
    case BatchRecordKind::kPut:
      table->Put(record.table, record.key, record.timestamp.bits, record.value);
      break;
    case BatchRecordKind::kRemove:
      table->Remove(record.table, record.key, record.timestamp.bits);
      break;
    case BatchRecordKind::kCounter:
      table->Put(Table::kCounters, record.key, index.value, EncodeCount(record.count));
      break;
    case BatchRecordKind::kRemoveRange:
      table->AddDeadRange({record.table,
                           {std::string(record.key), std::string(record.value), record.hashes},
                           record.timestamp});
      break;
    case BatchRecordKind::kClockBound:
      found->clock_bound = std::max(found->clock_bound, record.timestamp);
      break;
    case BatchRecordKind::kUnit:
    case BatchRecordKind::kPrepare:
    case BatchRecordKind::kDecision:
      break;
  }
}

absl::Status ApplyEntry(const LogEntry& entry, MemTable* table, Replayed* found) {
  BatchReader reader(entry.payload);
  BatchRecord record;
  while (true) {
    const absl::StatusOr<bool> more = reader.Next(&record);
    if (!more.ok()) return Annotate(more.status(), fmt::format("log entry {}", entry.index.value));
    if (!*more) break;
    ApplyRecord(record, entry.index, table, found);
    (void)EVENKEEL_FAIL_POINT(storage_replay_record);
  }
  found->latest = std::max(found->latest, entry.last_timestamp);
  table->EndBatch(entry.index, found->latest, found->clock_bound);
  return absl::OkStatus();
}

absl::Status CheckContinues(const ShardLog& log, LogIndex from) {
  if (log.committed() < from) {
    return Error(ErrorCode::kUnknownError, "the log ends at entry {}, LMDB holds entries up to {}",
                 log.committed().value, from.value);
  }
  if (log.committed() > from && log.first_index().value > from.value + 1) {
    return Error(ErrorCode::kUnknownError, "the log begins at entry {}, LMDB ends at {}",
                 log.first_index().value, from.value);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Replayed> ReplayLog(ShardLog* log, LogIndex from, size_t table_bytes_max,
                                   ViewPublisher* views,
                                   const std::function<absl::Status()>& full) {
  EVENKEEL_RETURN_IF_ERROR(CheckContinues(*log, from));
  Replayed found{.last = from, .latest = views->Current()->latest};
  const LogIndex committed = log->committed();
  while (found.last < committed) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries,
                              log->Read(LogIndex{found.last.value + 1}, kReadBytes));
    for (const LogEntry& entry : entries) {
      if (entry.index.value != found.last.value + 1) {
        return Error(ErrorCode::kUnknownError, "log entry {} follows entry {}", entry.index.value,
                     found.last.value);
      }
      const std::shared_ptr<MemTable> table = views->Current()->tables->entries.back().table;
      EVENKEEL_RETURN_IF_ERROR(ApplyEntry(entry, table.get(), &found));
      found.last = entry.index;
      views->PublishBatches(found.last, found.latest, nullptr);
      if (table->used_bytes() < table_bytes_max) continue;
      views->AddTable(std::make_shared<MemTable>(LogIndex{found.last.value + 1}));
      EVENKEEL_RETURN_IF_ERROR(full());
    }
    if (entries.empty())
      return Error(ErrorCode::kUnknownError, "log entry {} is missing", found.last.value + 1);
  }
  return found;
}

}  // namespace evenkeel::storage
