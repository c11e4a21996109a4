// Implements recovery: open, scan, judge the tail, mend it.
#include "storage/log/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "storage/log/log_files.h"

namespace evenkeel::storage {
namespace {

constexpr size_t kRewriteBytes = 1u << 20;

// A whole record behind the end of the log.
struct StrayRecord {
  uint64_t offset = 0;
  LogPosition durable;
};

// All whole records of `segment` that begin at `offset` or later, wherever they begin.
absl::StatusOr<std::vector<StrayRecord>> FindRecords(const LogSegment& segment, uint64_t offset) {
  std::vector<StrayRecord> found;
  if (offset >= segment.capacity()) return found;
  EVENKEEL_ASSIGN_OR_RETURN(const std::string bytes,
                            segment.file().ReadAt(offset, segment.capacity() - offset));
  for (size_t at = 0; at + kLogRecordHeaderBytes <= bytes.size(); at += kLogRecordAlignment) {
    const std::string_view rest = std::string_view(bytes).substr(at);
    const LogPosition place = segment.At(offset + at);
    if (!LogRecordBytesAt(rest, place, segment.salt()).has_value()) continue;
    const std::optional<LogRecord> record = DecodeLogRecord(rest, place, segment.salt());
    if (record.has_value()) found.push_back({.offset = offset + at, .durable = record->durable});
  }
  return found;
}

class Recovery {
 public:
  Recovery(FileSystem* file_system, std::string folder)
      : file_system_(file_system), folder_(std::move(folder)) {}

  absl::StatusOr<RecoveredLog> Run() {
    EVENKEEL_RETURN_IF_ERROR(OpenSegments());
    if (segments_.empty()) return std::move(log_);
    EVENKEEL_RETURN_IF_ERROR(ScanAll());
    EVENKEEL_RETURN_IF_ERROR(MendTail());
    log_.segments.assign(segments_.begin(), segments_.begin() + last_ + 1);
    log_.ready.assign(segments_.begin() + last_ + 1, segments_.end());
    return std::move(log_);
  }

 private:
  absl::Status Damaged(const LogSegment& segment, uint64_t offset, std::string_view why) const {
    return Error(ErrorCode::kUnknownError, "{}: damaged at offset {}: {}", segment.path(), offset,
                 why);
  }

  absl::Status OpenSegments() {
    // A process that ended may have left names that this one sees but the disk does not have yet.
    EVENKEEL_RETURN_IF_ERROR(file_system_->SyncFolder(folder_));
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_system_->List(folder_));
    std::vector<uint64_t> numbers;
    for (const std::string& name : names) {
      const std::optional<uint64_t> number = ParseLogSegmentName(name);
      if (number.has_value()) numbers.push_back(*number);
    }
    std::sort(numbers.begin(), numbers.end());
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0 && numbers[i] != numbers[i - 1] + 1) {
        return Error(ErrorCode::kUnknownError, "{}: {} is missing between {} and {}", folder_,
                     LogSegmentName(numbers[i - 1] + 1), LogSegmentName(numbers[i - 1]),
                     LogSegmentName(numbers[i]));
      }
      EVENKEEL_RETURN_IF_ERROR(OpenSegment(numbers[i]));
    }
    return absl::OkStatus();
  }

  absl::Status OpenSegment(uint64_t number) {
    std::string path = fmt::format("{}/{}", folder_, LogSegmentName(number));
    EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<File> file,
                              file_system_->Open(path, /*create=*/false));
    EVENKEEL_ASSIGN_OR_RETURN(const std::string bytes, file->ReadAt(0, kLogFirstRecordOffset));
    const absl::StatusOr<LogSegmentHeader> header = DecodeLogSegmentHeader(bytes);
    if (!header.ok()) return Annotate(header.status(), path);
    if (header->number != number) {
      return Error(ErrorCode::kUnknownError, "{}: holds segment {}", path, header->number);
    }
    segments_.push_back(std::make_shared<LogSegment>(*header, std::move(path), std::move(file)));
    return absl::OkStatus();
  }

  // Reads every record up to the first place where there is none and the next segment does not go
  // on.
  absl::Status ScanAll() {
    for (last_ = 0;; ++last_) {
      EVENKEEL_RETURN_IF_ERROR(ScanSegment());
      if (static_cast<size_t>(last_) + 1 == segments_.size()) return absl::OkStatus();
      const LogSegment& next = *segments_[static_cast<size_t>(last_) + 1];
      LogSegmentReader reader(&next, kLogFirstRecordOffset);
      EVENKEEL_ASSIGN_OR_RETURN(const std::optional<LogRecord> start, reader.Next());
      if (!start.has_value() || start->durable != log_.end) return absl::OkStatus();
    }
  }

  absl::Status ScanSegment() {
    LogSegment& segment = Last();
    LogSegmentReader reader(&segment, kLogFirstRecordOffset);
    for (;;) {
      const uint64_t offset = reader.offset();
      log_.end = segment.At(offset);
      EVENKEEL_ASSIGN_OR_RETURN(const std::optional<LogRecord> record, reader.Next());
      if (!record.has_value()) return absl::OkStatus();
      EVENKEEL_RETURN_IF_ERROR(Take(segment, *record, offset));
    }
  }

  absl::Status Take(LogSegment& segment, const LogRecord& record, uint64_t offset) {
    if ((record.kind == LogRecordKind::kStart) != (offset == kLogFirstRecordOffset)) {
      return Damaged(segment, offset, "a start record belongs at the start and only there");
    }
    claimed_ = record.durable;
    log_.closed = record.kind == LogRecordKind::kClosing;
    if (record.kind == LogRecordKind::kStart) return TakeStart(segment, record);
    if (record.kind == LogRecordKind::kEntry) {
      LogIndex& last = log_.last[record.shard];
      if (record.index.value != last.value + 1) {
        return Damaged(segment, offset,
                       fmt::format("entry {} of shard {} follows entry {}", record.index.value,
                                   record.shard.value, last.value));
      }
      last = record.index;
      segment.NoteEntry(record, offset);
    }
    return absl::OkStatus();
  }

  absl::Status TakeStart(const LogSegment& segment, const LogRecord& record) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<LogShardStart> starts,
                              DecodeLogStart(record.payload));
    for (const LogShardStart& start : starts) {
      LogIndex& last = log_.last[start.shard];
      if (last_ == 0) last = start.last;
      if (last != start.last) {
        return Damaged(segment, kLogFirstRecordOffset,
                       fmt::format("shard {} goes on behind entry {}, but ended at entry {}",
                                   start.shard.value, start.last.value, last.value));
      }
    }
    return absl::OkStatus();
  }

  // Judges what lies behind the end; wipes it and makes what lies before it durable.
  absl::Status MendTail() {
    const LogPosition end = log_.end;
    for (size_t i = static_cast<size_t>(last_); i < segments_.size(); ++i) {
      const bool is_last = i == static_cast<size_t>(last_);
      const uint64_t from = is_last ? end.offset() : kLogFirstRecordOffset;
      EVENKEEL_ASSIGN_OR_RETURN(const std::vector<StrayRecord> strays,
                                FindRecords(*segments_[i], from));
      for (const StrayRecord& stray : strays) {
        if (stray.durable > end) return Lost(*segments_[i], stray);
      }
      strays_.push_back(strays);
    }
    if (last_ == 0 && end.offset() == kLogFirstRecordOffset && end.segment() != 1) {
      // An older segment is given up only when the start record of the next one is durable.
      return Damaged(Last(), end.offset(), "the oldest segment has no start record");
    }
    for (size_t i = 0; i < strays_.size(); ++i) EVENKEEL_RETURN_IF_ERROR(Mend(i));
    return absl::OkStatus();
  }

  absl::Status Lost(const LogSegment& witness, const StrayRecord& stray) const {
    return Damaged(
        Last(), log_.end.offset(),
        fmt::format("the record at offset {} of {} says that the log was durable up to offset {} "
                    "of {}",
                    stray.offset, LogSegmentName(witness.number()), stray.durable.offset(),
                    LogSegmentName(stray.durable.segment())));
  }

  // The `i`th segment from the last one on.
  absl::Status Mend(size_t i) {
    LogSegment& segment = *segments_[static_cast<size_t>(last_) + i];
    if (i == 0) EVENKEEL_RETURN_IF_ERROR(WriteAgain(segment));
    const std::string nothing(kLogRecordHeaderBytes, '\0');
    for (const StrayRecord& stray : strays_[i]) {
      EVENKEEL_RETURN_IF_ERROR(segment.file().WriteAt(stray.offset, nothing));
    }
    return i == 0 || !strays_[i].empty() ? segment.file().Sync() : absl::OkStatus();
  }

  absl::Status WriteAgain(LogSegment& segment) {
    uint64_t at =
        claimed_.segment() == segment.number() ? claimed_.offset() : kLogFirstRecordOffset;
    while (at < log_.end.offset()) {
      const auto length =
          static_cast<size_t>(std::min<uint64_t>(kRewriteBytes, log_.end.offset() - at));
      EVENKEEL_ASSIGN_OR_RETURN(const std::string bytes, segment.file().ReadAt(at, length));
      EVENKEEL_RETURN_IF_ERROR(segment.file().WriteAt(at, bytes));
      at += length;
    }
    return absl::OkStatus();
  }

  LogSegment& Last() const { return *segments_[static_cast<size_t>(last_)]; }

  FileSystem* const file_system_;
  const std::string folder_;
  std::vector<std::shared_ptr<LogSegment>> segments_;  // all files, by number
  std::ptrdiff_t last_ = 0;                            // the segment in which the log ends
  LogPosition claimed_;                                // the last record's claim of durability
  std::vector<std::vector<StrayRecord>> strays_;       // from the last segment on
  RecoveredLog log_;
};

}  // namespace

absl::StatusOr<RecoveredLog> RecoverLog(FileSystem* file_system, const std::string& folder) {
  return Recovery(file_system, folder).Run();
}

}  // namespace evenkeel::storage
