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
#include <optional>
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
  // `plan` was made for this collection's entry. For kById documents are looked up by their keys
  // where `_id` tells them.
  Scan(const Collection& collection, const query::Plan& plan);
  // All documents in key order.
  explicit Scan(const Collection& collection);
  // Those of a sharded collection with these hashes of the shard key, in key order.
  Scan(const Collection& collection, const storage::HashSpan& hashes);

  enum class Visit : uint8_t { kContinue, kStop };
  using Visitor = absl::FunctionRef<Visit(const Found&)>;
  // Shows documents from where the last call ended: until the visitor stops, `examined_max` records
  // or kSliceBytesMax were looked at, or the end. Returns true at the end. Errors: QueryPlanKilled
  // when the collection or the index is gone, ExceededMemoryLimit past kSeenBytesMax.
  absl::StatusOr<bool> Run(const storage::ReadSlice& slice, size_t examined_max, Visitor visit);
  // Set when the last Run has stopped before a document on which a transaction is prepared: to be
  // waited for before the next Run.
  const std::shared_ptr<Transaction>& blocked_on() const { return blocked_on_; }
  static constexpr size_t kSliceBytesMax = 16u << 20;  // of documents shown in one slice
  static constexpr size_t kSeenBytesMax = 64u << 20;   // of document keys seen in a multikey index

  // True when documents come in the order that the plan promises: shortened keys with equal heads
  // do not.
  bool KeepsOrder(const query::Plan& plan, const catalog::ShardCatalog& catalog) const;
  // True when the ranges alone decide, as the plan says. May change from slice to slice: ask after
  // Run has begun.
  bool IsExact(const query::Plan& plan) const { return plan.exact && !widened_; }
  // True when it walks records of the index table; an update may move those that it has passed.
  bool UsesIndexRecords() const { return table_ == storage::Table::kIndex; }

  uint64_t keys_examined() const { return keys_examined_; }
  uint64_t docs_examined() const { return docs_examined_; }

 private:
  Scan(const Collection& collection, storage::TableRange docs);
  void AddIndexRanges(const catalog::IndexEntry& index,
                      const std::vector<std::vector<query::Interval>>& bounds);
  void AddRange(const catalog::IndexField& field, const query::Interval& interval,
                const std::string& prefix);
  void MergeRanges();
  absl::Status Begin(const storage::ReadSlice& slice);
  bool RunPoints(const storage::ReadSlice& slice, size_t examined_max, Visitor visit);
  bool RunRanges(const storage::ReadSlice& slice, size_t examined_max, Visitor visit);
  bool RunRange(const storage::ReadSlice& slice, storage::Cursor& cursor, size_t* left,
                Visitor visit);
  // Where the rest of the present range has to stop, if anywhere.
  std::optional<PreparedEffect> StopInRange(const storage::ReadSlice& slice) const;
  bool IsPrepared(const storage::ReadSlice& slice, std::string_view doc_key);
  void Position(storage::Cursor& cursor) const;
  // Looks one record over; true to go on.
  bool Show(const storage::ReadSlice& slice, std::string_view key, const storage::Record& record,
            Visitor visit);
  bool IsSeen(const std::string& doc_key);

  Collection collection_;
  storage::Table table_ = storage::Table::kDocs;
  IndexId index_;                            // whose order it follows
  std::vector<std::string> points_;          // document keys in order, for kById
  std::vector<storage::TableRange> ranges_;  // in key order, apart from each other
  storage::HashSpan hashes_;                 // of the documents shown
  bool reverse_ = false;
  bool widened_ = false;  // the ranges hold more than the bounds say
  size_t at_ = 0;         // range or point, in scan order
  std::string resume_;    // last key looked at in the current range; empty: its start
  bool deduplicate_ = false;
  absl::flat_hash_set<std::string> seen_;  // document keys, of multikey indexes
  size_t seen_bytes_ = 0;
  size_t slice_bytes_ = 0;
  absl::Status failed_;
  std::shared_ptr<Transaction> blocked_on_;
  uint64_t keys_examined_ = 0, docs_examined_ = 0;
};

}  // namespace evenkeel::shard
