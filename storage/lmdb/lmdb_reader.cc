// Implements point reads and cursors of LMDB.
#include "storage/lmdb/lmdb_reader.h"

#include "base/check.h"

namespace evenkeel::storage {
namespace {

// A read of a file that was opened well fails only when the file is damaged: going on could lose
// data.
void CheckFound(int code) { EVENKEEL_CHECK(code == 0 || code == MDB_NOTFOUND); }

class LmdbCursor final : public CheckpointCursor {
 public:
  LmdbCursor(MDB_txn* txn, MDB_dbi database) {
    EVENKEEL_CHECK(mdb_cursor_open(txn, database, &cursor_) == 0);
  }
  ~LmdbCursor() override { mdb_cursor_close(cursor_); }

  void Seek(std::string_view key) override {
    key_ = ToVal(key);
    Move(key.empty() ? MDB_FIRST : MDB_SET_RANGE);
  }
  void SeekBack(std::string_view key) override {
    if (!key.empty()) {
      key_ = ToVal(key);
      Move(MDB_SET_RANGE);
    }
    Move(!key.empty() && valid_ ? MDB_PREV : MDB_LAST);
  }
  void Next() override { Move(MDB_NEXT); }
  void Previous() override { Move(MDB_PREV); }
  bool Valid() const override { return valid_; }
  std::string_view key() const override { return ToView(key_); }
  std::string_view value() const override { return ToView(value_); }

 private:
  void Move(MDB_cursor_op op) {
    const int code = mdb_cursor_get(cursor_, &key_, &value_, op);
    CheckFound(code);
    valid_ = code == 0;
  }

  MDB_cursor* cursor_ = nullptr;
  MDB_val key_{};
  MDB_val value_{};
  bool valid_ = false;
};

}  // namespace

std::optional<std::string_view> LmdbReader::Get(size_t database, std::string_view key) {
  if (key.empty()) return std::nullopt;
  MDB_val wanted = ToVal(key);
  MDB_val value;
  const int code = mdb_get(txn_, file_->database(database), &wanted, &value);
  CheckFound(code);
  if (code != 0) return std::nullopt;
  return ToView(value);
}

std::unique_ptr<CheckpointCursor> LmdbReader::NewCursor(size_t database) {
  return std::make_unique<LmdbCursor>(txn_, file_->database(database));
}

}  // namespace evenkeel::storage
