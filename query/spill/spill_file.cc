// Blocks by pread and pwrite, compressed by snappy.
#include "query/spill/spill_file.h"

#include <fcntl.h>
#include <snappy.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/status.h"

namespace evenkeel::query {
namespace {

constexpr uint64_t kCheckedEachBytes = 8 << 20;  // written between two looks at the disk's space
constexpr size_t kDocumentBytesMin = 5;

}  // namespace

SpillFile::SpillFile(std::shared_ptr<SpillFolder> folder, int descriptor)
    : folder_(std::move(folder)), descriptor_(descriptor) {
  folder_->file_count_.fetch_add(1, std::memory_order_relaxed);
}

SpillFile::~SpillFile() {
  ::close(descriptor_);
  folder_->file_count_.fetch_sub(1, std::memory_order_relaxed);
  folder_->bytes_.fetch_sub(static_cast<int64_t>(size_bytes_), std::memory_order_relaxed);
}

absl::Status SpillFile::Failed(std::string_view what) const {
  const ErrorCode code =
      errno == ENOSPC || errno == EDQUOT ? ErrorCode::kOutOfDiskSpace : ErrorCode::kOperationFailed;
  return Error(code, "cannot {} a spill file in {}: {}", what, folder_->path(),
               std::strerror(errno));
}

absl::Status SpillFile::CheckRoom() {
  if (size_bytes_ != 0 && size_bytes_ - checked_bytes_ < kCheckedEachBytes) {
    return absl::OkStatus();
  }
  struct statvfs disk {};
  if (::fstatvfs(descriptor_, &disk) != 0) return Failed("ask for the disk of");
  checked_bytes_ = size_bytes_;
  const int64_t free_bytes =
      static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  if (free_bytes >= folder_->free_bytes_min()) return absl::OkStatus();
  return Error(ErrorCode::kOutOfDiskSpace,
               "cannot spill to {}: the disk has {} bytes left, less than the {} to be kept",
               folder_->path(), free_bytes, folder_->free_bytes_min());
}

absl::StatusOr<SpillBlock> SpillFile::WriteBlock(std::string_view bytes) {
  EVENKEEL_RETURN_IF_ERROR(CheckRoom());
  snappy::Compress(bytes.data(), bytes.size(), &packed_);
  const SpillBlock block{.offset = size_bytes_,
                         .stored_bytes = static_cast<uint32_t>(packed_.size())};
  for (size_t done = 0; done < packed_.size();) {
    const ssize_t written = ::pwrite(descriptor_, packed_.data() + done, packed_.size() - done,
                                     static_cast<off_t>(block.offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Failed("write to");
    done += static_cast<size_t>(written);
  }
  size_bytes_ += packed_.size();
  counts_.stored_bytes += static_cast<int64_t>(packed_.size());
  folder_->bytes_.fetch_add(static_cast<int64_t>(packed_.size()), std::memory_order_relaxed);
  return block;
}

absl::Status SpillFile::ReadBlock(SpillBlock block, std::string* bytes) {
  packed_.resize(block.stored_bytes);
  for (size_t done = 0; done < packed_.size();) {
    const ssize_t read = ::pread(descriptor_, packed_.data() + done, packed_.size() - done,
                                 static_cast<off_t>(block.offset + done));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return Failed("read from");
    done += static_cast<size_t>(read);
  }
  if (snappy::Uncompress(packed_.data(), packed_.size(), bytes)) return absl::OkStatus();
  return Error(ErrorCode::kOperationFailed, "a spill file in {} is damaged", folder_->path());
}

void SpillFile::FreeBlock(SpillBlock block) {
  // Without support for holes the space comes back with the file.
  (void)::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(block.offset), static_cast<off_t>(block.stored_bytes));
}

absl::Status SpillWriter::Add(std::span<const bson::View> record) {
  for (const bson::View document : record) {
    block_.append(document.Bytes());
    file_->counts_.bytes += static_cast<int64_t>(document.SizeBytes());
  }
  ++file_->counts_.records;
  ++run_.count;
  return block_.size() < kBlockBytes ? absl::OkStatus() : Flush();
}

absl::Status SpillWriter::Flush() {
  if (block_.empty()) return absl::OkStatus();
  EVENKEEL_ASSIGN_OR_RETURN(const SpillBlock block, file_->WriteBlock(block_));
  run_.blocks.push_back(block);
  block_.clear();
  // One huge record is no reason to keep its room.
  if (block_.capacity() > 4 * kBlockBytes) block_.shrink_to_fit();
  return absl::OkStatus();
}

absl::StatusOr<SpillRun> SpillWriter::Finish() {
  EVENKEEL_RETURN_IF_ERROR(Flush());
  return std::exchange(run_, {});
}

absl::StatusOr<bool> SpillReader::Next(std::span<bson::View> record) {
  if (at_ == block_.size()) {
    if (once_ && next_block_ > 0) file_->FreeBlock(run_.blocks[next_block_ - 1]);
    at_ = 0;
    block_.clear();
    if (next_block_ == run_.blocks.size()) return false;
    EVENKEEL_RETURN_IF_ERROR(file_->ReadBlock(run_.blocks[next_block_++], &block_));
  }
  for (bson::View& document : record) {
    const size_t left = block_.size() - at_;
    document = bson::View(block_.data() + at_);
    if (left < kDocumentBytesMin || document.SizeBytes() < kDocumentBytesMin ||
        document.SizeBytes() > left) {
      return Error(ErrorCode::kOperationFailed, "a spill file holds a damaged row");
    }
    at_ += document.SizeBytes();
  }
  return true;
}

}  // namespace evenkeel::query
