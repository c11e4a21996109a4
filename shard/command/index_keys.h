// The records of the docs and index tables that one document stands for.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bson/document.h"
#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "storage/store.h"

namespace evenkeel::shard {

// One record of the index table. The first `prefix_bytes` of the key are the index and the indexed
// values.
struct IndexRecord {
  const catalog::IndexEntry* index = nullptr;  // of the entry that it was computed with
  std::string key;
  std::string value;
  size_t prefix_bytes = 0;
  bool long_key = false;  // the values are shortened in it
};

// Everything that one document puts into the tables under one version of its collection's entry.
struct DocumentRecords {
  int64_t hash = INT64_MIN;  // of the shard key; the lowest in unsharded collections
  std::string doc_key;
  std::vector<IndexRecord> indexes;  // ordered by key, without duplicates
  std::vector<IndexId> multikey;     // indexes for which an array was found
  std::vector<IndexId> long_keys;    // indexes (`_id_` for the docs table) with a shortened key
};

// True for an index that has records of its own: all but the `_id_` of an unsharded collection,
// which is the docs table itself.
bool HasRecords(const catalog::CollectionEntry& entry, const catalog::IndexEntry& index);

// Computes them. Errors: ShardKeyNotFound for arrays on the shard key, CannotBuildIndexKeys for two
// arrays in one compound index. Requires that `document` has an `_id`.
absl::StatusOr<DocumentRecords> RecordsOf(const catalog::CollectionEntry& entry,
                                          bson::View document);
// Those of one index, appended in no order. `multikey` is set when an array was met. Errors: as
// IndexValuesOf.
absl::Status AppendIndexRecords(const catalog::IndexEntry& index, bson::View document,
                                std::string_view doc_key, std::vector<IndexRecord>* out,
                                bool* multikey);

// The key of the record of one tuple of values (shard/command/index_values.h).
std::string KeyOfTuple(const catalog::IndexEntry& index, std::span<const bson::Value> tuple,
                       std::string_view doc_key);

// The counter of one index: its records and their bytes.
std::string IndexCounterKey(IndexId index);

}  // namespace evenkeel::shard
