// Implements write transactions of LMDB.
//
// LMDB does not tell how many pages a transaction has changed, so it is estimated: keys come in
// order, hence a leaf that was left is not met again, and comparing addresses tells whether a
// change hits the leaf of the one before. A key behind all others is appended, so that pages are
// filled.
#include "storage/lmdb/lmdb_writer.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/status.h"

namespace evenkeel::storage {
namespace {

constexpr double kPageBytes = 4096;
constexpr size_t kOverflowBytes = 2000;  // longer values get pages of their own
constexpr double kBranchShare = 1.15;    // leaf pages with the branch pages above them

bool SamePage(const char* a, const char* b) {
  return a != nullptr && b != nullptr && std::llabs(a - b) < static_cast<long long>(kPageBytes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointWriter>> LmdbWriter::Begin(
    std::shared_ptr<LmdbFile> file) {
  MDB_txn* txn = nullptr;
  if (int code = mdb_txn_begin(file->env(), nullptr, 0, &txn); code != 0) {
    return LmdbError(code, file->path());
  }
  return std::unique_ptr<CheckpointWriter>(new LmdbWriter(std::move(file), txn));
}

LmdbWriter::~LmdbWriter() {
  CloseCursors();
  if (txn_ != nullptr) mdb_txn_abort(txn_);
}

void LmdbWriter::CloseCursors() {
  if (txn_ == nullptr) return;  // a commit has closed them
  for (Place& place : places_) {
    if (place.cursor != nullptr) mdb_cursor_close(place.cursor);
    place.cursor = nullptr;
  }
}

int LmdbWriter::SeekPlace(size_t database, std::string_view key, MDB_val* found, MDB_val* value) {
  Place& place = places_[database];
  if (place.cursor == nullptr) {
    const int code = mdb_cursor_open(txn_, file_->database(database), &place.cursor);
    if (code != 0) return code;
  }
  *found = ToVal(key);
  return mdb_cursor_get(place.cursor, found, value, key.empty() ? MDB_FIRST : MDB_SET_RANGE);
}

absl::StatusOr<std::optional<std::string_view>> LmdbWriter::Get(size_t database,
                                                                std::string_view key) {
  MDB_val found;
  MDB_val value;
  const int code = SeekPlace(database, key, &found, &value);
  if (code != 0 && code != MDB_NOTFOUND) return LmdbError(code, file_->path());
  if (code == MDB_NOTFOUND || ToView(found) != key) return std::optional<std::string_view>();
  return std::optional(ToView(value));
}

absl::StatusOr<bool> LmdbWriter::FindAtLeast(size_t database, std::string_view key,
                                             std::string* found_key, std::string* found_value) {
  MDB_val found;
  MDB_val value;
  const int code = SeekPlace(database, key, &found, &value);
  if (code == MDB_NOTFOUND) return false;
  if (code != 0) return LmdbError(code, file_->path());
  found_key->assign(ToView(found));
  found_value->assign(ToView(value));
  return true;
}

void LmdbWriter::CountChange(Place* place, const char* leaf, size_t new_bytes) {
  const auto bytes = static_cast<double>(new_bytes);
  if (!SamePage(leaf, place->dirty_leaf)) {
    dirty_pages_ += kBranchShare;
  } else if (new_bytes <= kOverflowBytes) {
    dirty_pages_ += bytes / kPageBytes;  // leaves that lie close together look like one
  }
  if (new_bytes > kOverflowBytes) dirty_pages_ += std::ceil((bytes + 16) / kPageBytes);
  place->dirty_leaf = leaf;
}

absl::Status LmdbWriter::Put(size_t database, std::string_view key, std::string_view head,
                             std::string_view body) {
  MDB_val found;
  MDB_val value;
  int code = SeekPlace(database, key, &found, &value);
  if (code != 0 && code != MDB_NOTFOUND) return LmdbError(code, file_->path());
  MDB_cursor* const cursor = places_[database].cursor;
  MDB_val wanted = ToVal(key);
  value = {head.size() + body.size(), nullptr};
  code = mdb_cursor_put(cursor, &wanted, &value,
                        MDB_RESERVE | (code == MDB_NOTFOUND ? MDB_APPEND : 0u));
  if (code != 0) return LmdbError(code, file_->path());
  char* to = static_cast<char*>(value.mv_data);
  if (!head.empty()) std::memcpy(to, head.data(), head.size());
  if (!body.empty()) std::memcpy(to + head.size(), body.data(), body.size());
  const size_t bytes = key.size() + value.mv_size;
  code = mdb_cursor_get(cursor, &found, &value, MDB_GET_CURRENT);
  if (code != 0) return LmdbError(code, file_->path());
  CountChange(&places_[database], static_cast<const char*>(found.mv_data), bytes);
  return absl::OkStatus();
}

absl::Status LmdbWriter::Remove(size_t database, std::string_view key) {
  MDB_val found;
  MDB_val value;
  int code = SeekPlace(database, key, &found, &value);
  if (code == MDB_NOTFOUND || (code == 0 && ToView(found) != key)) return absl::OkStatus();
  if (code != 0) return LmdbError(code, file_->path());
  MDB_cursor* const cursor = places_[database].cursor;
  if (code = mdb_cursor_del(cursor, 0); code != 0) return LmdbError(code, file_->path());
  // The leaf is a copy now; the cursor stands on what followed, nearly always in it.
  const char* leaf = static_cast<const char*>(found.mv_data);
  if (mdb_cursor_get(cursor, &found, &value, MDB_GET_CURRENT) == 0) {
    leaf = static_cast<const char*>(found.mv_data);
  }
  CountChange(&places_[database], leaf, 0);
  return absl::OkStatus();
}

absl::Status LmdbWriter::Commit() {
  EVENKEEL_CHECK(txn_ != nullptr);
  CloseCursors();
  const int code = mdb_txn_commit(std::exchange(txn_, nullptr));
  return code == 0 ? absl::OkStatus() : LmdbError(code, file_->path());
}

}  // namespace evenkeel::storage
