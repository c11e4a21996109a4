// One write transaction of an LMDB file through the checkpoint store's interface. One thread.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "storage/lmdb/checkpoint_store.h"
#include "storage/lmdb/lmdb_file.h"

namespace evenkeel::storage {

class LmdbWriter final : public CheckpointWriter {
 public:
  // Errors: those of LmdbError.
  static absl::StatusOr<std::unique_ptr<CheckpointWriter>> Begin(std::shared_ptr<LmdbFile> file);
  ~LmdbWriter() override;

  absl::StatusOr<std::optional<std::string_view>> Get(size_t database,
                                                      std::string_view key) override;
  absl::StatusOr<bool> FindAtLeast(size_t database, std::string_view key, std::string* found_key,
                                   std::string* found_value) override;
  absl::Status Put(size_t database, std::string_view key, std::string_view head,
                   std::string_view body) override;
  absl::Status Remove(size_t database, std::string_view key) override;
  size_t DirtyPages() const override { return static_cast<size_t>(dirty_pages_); }
  absl::Status Commit() override;

 private:
  // The cursor of one database and what is known of its position.
  struct Place {
    MDB_cursor* cursor = nullptr;
    const char* dirty_leaf = nullptr;  // an address in the leaf that was changed last
  };

  LmdbWriter(std::shared_ptr<LmdbFile> file, MDB_txn* txn) : file_(std::move(file)), txn_(txn) {}
  // Moves to the first key >= `key`; MDB_NOTFOUND when there is none.
  int SeekPlace(size_t database, std::string_view key, MDB_val* found, MDB_val* value);
  // A change of `new_bytes` has hit the leaf that holds `leaf`.
  void CountChange(Place* place, const char* leaf, size_t new_bytes);
  void CloseCursors();

  const std::shared_ptr<LmdbFile> file_;
  MDB_txn* txn_;  // null once committed
  std::array<Place, kDatabaseCount> places_;
  double dirty_pages_ = 0;
};

}  // namespace evenkeel::storage
