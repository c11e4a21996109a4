// One operator's file of rows on disk: written in runs, each read again from its start.
//
// A run is a series of compressed blocks anywhere in the file; several runs may be written at the
// same time. Records are one or more documents that are read together. One thread at a time.
//
//   SpillWriter writer(file);              SpillReader reader(file, *std::move(run));
//   writer.Add({{key, row}});              bson::View record[2];
//   … run = writer.Finish();               while (*reader.Next(record)) …
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/view.h"
#include "query/spill/spill_folder.h"

namespace evenkeel::query {

// A block's place in the file.
struct SpillBlock {
  uint64_t offset = 0;
  uint32_t stored_bytes = 0;  // compressed
};

struct SpillRun {
  std::vector<SpillBlock> blocks;
  int64_t count = 0;  // of records
};

// What was written, for explain.
struct SpillCounts {
  int64_t records = 0;
  int64_t bytes = 0;         // of their documents
  int64_t stored_bytes = 0;  // compressed
};

class SpillFile {
 public:
  // Takes the open file `descriptor`; SpillFolder::NewFile calls this.
  SpillFile(std::shared_ptr<SpillFolder> folder, int descriptor);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Appends a block. Errors: OutOfDiskSpace when the disk is full or would keep too little,
  // OperationFailed.
  absl::StatusOr<SpillBlock> WriteBlock(std::string_view bytes);
  // Errors: OperationFailed for a block that cannot be read as it was written.
  absl::Status ReadBlock(SpillBlock block, std::string* bytes);
  // Gives a block's space back to the disk as far as the file system can.
  void FreeBlock(SpillBlock block);
  const SpillCounts& counts() const { return counts_; }

 private:
  friend class SpillWriter;
  absl::Status CheckRoom();
  absl::Status Failed(std::string_view what) const;

  const std::shared_ptr<SpillFolder> folder_;
  const int descriptor_;
  uint64_t size_bytes_ = 0;
  SpillCounts counts_;
  uint64_t checked_bytes_ = 0;  // size when the disk was last asked for its free space
  std::string packed_;
};

class SpillWriter {
 public:
  // Blocks close at this size; memory that one writer or reader holds.
  static constexpr size_t kBlockBytes = 128u << 10;

  explicit SpillWriter(SpillFile& file) : file_(&file) {}
  absl::Status Add(std::span<const bson::View> record);
  // The run, after its last record.
  absl::StatusOr<SpillRun> Finish();

 private:
  absl::Status Flush();
  SpillFile* file_;
  std::string block_;
  SpillRun run_;
};

class SpillReader {
 public:
  // `once`: blocks are given back to the disk after they were read.
  SpillReader(SpillFile& file, SpillRun run, bool once)
      : file_(&file), run_(std::move(run)), once_(once) {}
  // Reads the next record into `record`, whose length is that of the records written. False at the
  // end. Views are valid until the next call. Errors: OperationFailed for damaged files.
  absl::StatusOr<bool> Next(std::span<bson::View> record);

 private:
  SpillFile* file_;
  SpillRun run_;
  bool once_;
  size_t next_block_ = 0;
  std::string block_;
  size_t at_ = 0;
};

}  // namespace evenkeel::query
