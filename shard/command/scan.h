// Walks the documents of a plan in slices: key ranges of the docs table or of an index, in either
// direction.
//
// Between slices a scan holds keys only; it goes on behind the last one in whatever state the next
// slice shows.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "query/plan/planner.h"
#include "shard/command/command.h"

namespace evenkeel::shard {

// One document as a scan shows it; valid within the slice.
struct Found {
  std::string_view doc_key;
  bson::View document;
  Timestamp version;  // its commit timestamp
};

// Index descriptions for the planner, with the multikey flags of this shard.
std::vector<query::IndexDescription> DescribeIndexes(const catalog::CollectionEntry& entry,
                                                     const catalog::ShardCatalog& catalog);

class Scan {
 public:
  // `plan` was made for this collection's entry. Unsharded collections, and those sharded by `_id`,
  // are looked up by document key for kById.
  Scan(const Collection& collection, const query::Plan& plan);
  // All documents in key order.
  explicit Scan(const Collection& collection);

  enum class Visit : uint8_t { kContinue, kStop };
  using Visitor = std::function<Visit(const Found&)>;
  // Shows documents from where the last call ended: until the visitor stops, `examined_max` records
  // were looked at, or the end. Returns true at the end. Errors: QueryPlanKilled when the
  // collection or the index is gone.
  absl::StatusOr<bool> Run(const storage::ReadSlice& slice, size_t examined_max,
                           const Visitor& visit);

  uint64_t keys_examined() const { return keys_examined_; }
  uint64_t docs_examined() const { return docs_examined_; }
  // True when every document is addressed by its key: at most one record per range.
  bool IsPointLookup() const { return table_ == storage::Table::kDocs && !points_.empty(); }
  const std::vector<std::string>& points() const { return points_; }

 private:
  struct KeyRange {
    std::string begin, end;
  };
  void AddIndexRanges(const catalog::IndexEntry& index,
                      const std::vector<std::vector<query::Interval>>& bounds);
  absl::Status CheckStillThere(const storage::ReadSlice& slice) const;
  absl::StatusOr<bool> RunPoints(const storage::ReadSlice& slice, const Visitor& visit);
  // Looks one record over; true to go on.
  bool Show(const storage::ReadSlice& slice, std::string_view key, const storage::Record& record,
            const Visitor& visit);

  Collection collection_;
  storage::Table table_ = storage::Table::kDocs;
  IndexId index_;
  std::vector<std::string> points_;  // document keys, for kById
  std::vector<KeyRange> ranges_;     // in scan order
  bool reverse_ = false;
  size_t at_ = 0;       // range or point
  std::string resume_;  // last key looked at in the current range; empty: its start
  bool deduplicate_ = false;
  absl::flat_hash_set<std::string> seen_;  // document keys, of multikey indexes
  uint64_t keys_examined_ = 0, docs_examined_ = 0;
};

}  // namespace evenkeel::shard
