// Implements the steps of range removal.
#include "storage/checkpoint/range_removal.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "storage/checkpoint/commit_gate.h"
#include "storage/keys/placement.h"
#include "storage/lmdb/doc_value.h"

namespace evenkeel::storage {
namespace {

bool IsDead(const DeadRange& range, std::string_view key, std::string_view value) {
  return range.table != Table::kDocs ||
         HoldsDocument(range.keys.hashes, key, bson::View(SplitDocValue(value).document.data()));
}

absl::Status RemoveIndexEntries(CheckpointWriter* writer, const StoreOptions& options,
                                const std::string& key, const std::string& value) {
  std::vector<std::string> index_keys;
  options.index_entries(key, SplitDocValue(value).document, &index_keys);
  for (const std::string& index_key : index_keys) {
    EVENKEEL_RETURN_IF_ERROR(writer->Remove(DatabaseOf(Table::kIndex), index_key));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> RemoveSome(CheckpointStore* store, const StoreOptions& options,
                                PendingRemoval* removal, size_t keys_max, size_t dirty_pages_max) {
  DeadRange& range = removal->range;
  const size_t database = DatabaseOf(range.table);
  EVENKEEL_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointWriter> writer, store->BeginWrite());
  std::string next = range.keys.begin;
  std::string key;
  std::string value;
  bool done = false;
  for (size_t seen = 0; seen < keys_max && writer->DirtyPages() < dirty_pages_max; ++seen) {
    EVENKEEL_ASSIGN_OR_RETURN(const bool found, writer->FindAtLeast(database, next, &key, &value));
    done = !found || (!range.keys.end.empty() && key >= range.keys.end);
    if (done) break;
    next = key + '\0';
    if (!IsDead(range, key, value)) continue;
    if (range.table == Table::kDocs && options.index_entries) {
      EVENKEEL_RETURN_IF_ERROR(RemoveIndexEntries(writer.get(), options, key, value));
    }
    EVENKEEL_RETURN_IF_ERROR(writer->Remove(database, key));
  }
  if (done) EVENKEEL_RETURN_IF_ERROR(writer->Remove(kEngineDatabase, removal->row));
  EVENKEEL_RETURN_IF_ERROR(CommitAlone(writer.get()));
  range.keys.begin = std::move(next);
  return done;
}

}  // namespace evenkeel::storage
