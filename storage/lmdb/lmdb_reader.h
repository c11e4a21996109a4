// Reading from an LMDB file through the checkpoint store's interface.
#pragma once

#include <memory>

#include "storage/lmdb/checkpoint_store.h"
#include "storage/lmdb/lmdb_file.h"

namespace evenkeel::storage {

class LmdbReader final : public CheckpointReader {
 public:
  LmdbReader(std::shared_ptr<LmdbFile> file, MDB_txn* txn) : file_(std::move(file)), txn_(txn) {}
  ~LmdbReader() override { file_->ReturnReader(txn_); }
  std::optional<std::string_view> Get(size_t database, std::string_view key) override;
  std::unique_ptr<CheckpointCursor> NewCursor(size_t database) override;

 private:
  const std::shared_ptr<LmdbFile> file_;
  MDB_txn* const txn_;
};

}  // namespace evenkeel::storage
