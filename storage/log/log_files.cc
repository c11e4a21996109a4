// Implements the files of the log's folder.
#include "storage/log/log_files.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/fail_point.h"
#include "base/status.h"

namespace evenkeel::storage {
namespace {

constexpr std::string_view kSegmentPrefix = "log-";
constexpr std::string_view kSparePrefix = "spare-";
constexpr std::string_view kBallastName = "ballast";
constexpr size_t kFillPieceBytes = 1u << 20;
constexpr uint64_t kFillSyncBytes = 4u << 20;  // keeps the flush short for the log beside it

std::optional<uint64_t> ParseNumbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  uint64_t number = 0;
  if (!absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &number)) {
    return std::nullopt;
  }
  return number;
}

// Writes zeros over the whole file, so that its space is no longer "allocated, never written" to
// the file system.
absl::Status WriteZeros(File& file, uint64_t bytes) {
  const std::string zeros(static_cast<size_t>(std::min<uint64_t>(bytes, kFillPieceBytes)), '\0');
  uint64_t unsynced = 0;
  for (uint64_t at = 0; at < bytes; at += zeros.size()) {
    const auto length = static_cast<size_t>(std::min<uint64_t>(zeros.size(), bytes - at));
    EVENKEEL_RETURN_IF_ERROR(file.WriteAt(at, std::string_view(zeros).substr(0, length)));
    unsynced += length;
    if (unsynced >= kFillSyncBytes) {
      EVENKEEL_RETURN_IF_ERROR(file.Sync());
      unsynced = 0;
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string LogSegmentName(uint64_t number) {
  return fmt::format("{}{:010}", kSegmentPrefix, number);
}

std::optional<uint64_t> ParseLogSegmentName(std::string_view name) {
  return ParseNumbered(name, kSegmentPrefix);
}

std::string LogFiles::Path(std::string_view name) const {
  return fmt::format("{}/{}", options_.folder, name);
}

absl::Status LogFiles::RemoveFile(const std::string& name) {
  EVENKEEL_RETURN_IF_ERROR(options_.file_system->Remove(Path(name)));
  return options_.file_system->SyncFolder(options_.folder);
}

absl::Status LogFiles::Open() {
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                            options_.file_system->List(options_.folder));
  for (const std::string& name : names) {
    if (name == kBallastName) has_ballast_ = true;
    const std::optional<uint64_t> number = ParseNumbered(name, kSparePrefix);
    if (!number.has_value()) continue;
    next_spare_ = std::max(next_spare_, *number + 1);
    EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                              options_.file_system->Open(Path(name), /*create=*/false));
    if (file->SizeBytes() == options_.segment_bytes && spares_.size() < options_.spare_count_max) {
      spares_.push_back(name);
    } else {
      EVENKEEL_RETURN_IF_ERROR(RemoveFile(name));
    }
  }
  return absl::OkStatus();
}

std::string LogFiles::NewSpareName() {
  return fmt::format("{}{:010}", kSparePrefix, next_spare_++);
}

absl::Status LogFiles::FillSpare(const std::string& name, bool zeroed) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                            options_.file_system->Open(Path(name), /*create=*/true));
  EVENKEEL_RETURN_IF_ERROR(file->Allocate(options_.segment_bytes));
  if (zeroed) EVENKEEL_RETURN_IF_ERROR(WriteZeros(*file, options_.segment_bytes));
  return file->Sync();
}

absl::StatusOr<std::string> LogFiles::MakeSpare(bool zeroed) {
  std::string name = NewSpareName();
  if (absl::Status status = FillSpare(name, zeroed); !status.ok()) {
    if (options_.file_system->Exists(Path(name))) {
      // The space must go back; the first error is the one that counts.
      const absl::Status removed = RemoveFile(name);
      if (!removed.ok()) return Annotate(status, MessageOf(removed));
    }
    return status;
  }
  return name;
}

absl::StatusOr<std::shared_ptr<LogSegment>> LogFiles::Prepare(uint64_t number, bool zeroed) {
  std::string spare;
  if (spares_.empty()) {
    EVENKEEL_ASSIGN_OR_RETURN(spare, MakeSpare(zeroed));
  } else {
    spare = spares_.back();
    spares_.pop_back();
  }
  EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<File> file,
                            options_.file_system->Open(Path(spare), /*create=*/false));
  const LogSegmentHeader header{.number = number, .salt = options_.new_salt()};
  EVENKEEL_RETURN_IF_ERROR(file->WriteAt(0, EncodeLogSegmentHeader(header.number, header.salt)));
  EVENKEEL_RETURN_IF_ERROR(file->Sync());
  std::string path = Path(LogSegmentName(number));
  EVENKEEL_RETURN_IF_ERROR(options_.file_system->Rename(Path(spare), path));
  if (EVENKEEL_FAIL_POINT(storage_log_new_segment)) {
    return Error(ErrorCode::kOperationFailed, "fail point before the sync of {}", options_.folder);
  }
  EVENKEEL_RETURN_IF_ERROR(options_.file_system->SyncFolder(options_.folder));
  return std::make_shared<LogSegment>(header, std::move(path), std::move(file));
}

absl::Status LogFiles::Retire(std::shared_ptr<LogSegment> segment) {
  const std::string name = LogSegmentName(segment->number());
  const bool reusable = segment.use_count() == 1 && segment->capacity() == options_.segment_bytes &&
                        spares_.size() < options_.spare_count_max;
  segment.reset();
  if (!reusable) return RemoveFile(name);
  std::string spare = NewSpareName();
  EVENKEEL_RETURN_IF_ERROR(options_.file_system->Rename(Path(name), Path(spare)));
  EVENKEEL_RETURN_IF_ERROR(options_.file_system->SyncFolder(options_.folder));
  spares_.push_back(std::move(spare));
  return absl::OkStatus();
}

absl::Status LogFiles::ReleaseBallast() {
  has_ballast_ = false;
  return RemoveFile(std::string(kBallastName));
}

absl::Status LogFiles::RestoreBallast() {
  if (options_.ballast_bytes == 0) return absl::OkStatus();
  EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                            options_.file_system->Open(Path(kBallastName), /*create=*/true));
  absl::Status status = file->Allocate(options_.ballast_bytes);
  if (status.ok()) status = file->Sync();
  if (status.ok()) status = options_.file_system->SyncFolder(options_.folder);
  has_ballast_ = status.ok();
  if (!status.ok()) {
    // A part of it is worse than none: it holds space and helps nobody.
    const absl::Status removed = RemoveFile(std::string(kBallastName));
    if (!removed.ok()) return Annotate(status, MessageOf(removed));
  }
  return status;
}

absl::StatusOr<uint64_t> LogFiles::FreeBytes() const {
  return options_.file_system->FreeBytes(options_.folder);
}

}  // namespace evenkeel::storage
