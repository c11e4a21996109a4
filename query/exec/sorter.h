// Sorting more rows than memory holds: in memory first, past its limit in sorted runs on disk that
// are merged in the end.
//
// What $sort, $sample, $bucketAuto, $densify and $setWindowFields share. Rows of equal keys keep
// their order.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/spill/spill_file.h"

namespace evenkeel::query {

// A row and what it is sorted by: any document, often an array of values.
struct KeyedRow {
  bson::Document key;
  Row row;
  size_t SizeBytes() const;
};

// Limits   `budget_bytes` in memory; past it runs on disk, or 292 and 146 where that is not
// allowed. `context` outlives the sorter.
class Sorter {
 public:
  // Orders two keys.
  using Compare = std::function<int(bson::View, bson::View)>;

  // `limit`: only so many rows are wanted. `operator_name` is a literal.
  Sorter(const QueryContext& context, std::string_view operator_name, size_t budget_bytes,
         Compare compare, std::optional<int64_t> limit = std::nullopt);

  // The row that the next one must come before to be wanted; null while every row is.
  const KeyedRow* Last() const;
  absl::Status Add(bson::Document key, Row row);
  // After the last row, once.
  absl::Status Finish();
  bool finished() const { return finished_; }
  // The next row of the order, owned. False at the end.
  absl::StatusOr<bool> Next(KeyedRow* out);
  // How many rows were added, or with a limit may come out.
  int64_t count() const { return count_; }
  bool has_spilled() const { return file_ != nullptr; }
  // Bytes of all rows and keys that were kept, if only for a while.
  int64_t kept_bytes() const { return kept_bytes_; }
  int64_t spills() const { return spills_; }
  const SpillFile* file() const { return file_.get(); }

 private:
  struct Entry {
    KeyedRow keyed;
    uint64_t sequence = 0;  // of arrival: breaks ties
  };
  // A run and how many merges made it.
  struct Run {
    SpillRun rows;
    int level = 0;
  };
  // A run as a merge reads it.
  struct Source {
    SpillReader reader;
    bson::View record[2];  // key and row
  };

  bool Less(const Entry& a, const Entry& b) const;
  size_t wanted() const { return limit_ ? static_cast<size_t>(*limit_) : SIZE_MAX; }
  void SortEntries();
  // Writes what is in memory as a run.
  absl::Status Spill();
  // Makes one run of those from `first` on.
  absl::Status MergeRuns(size_t first);
  // Opens the runs from `first` on for merging.
  absl::Status OpenRuns(size_t first);
  // Shows the next record of the merge, which is false at its end.
  using Visit = std::function<absl::Status(std::span<const bson::View>)>;
  absl::StatusOr<bool> NextMerged(const Visit& visit);
  // True when source `a` comes after `b`; ties go to the earlier run.
  bool After(size_t a, size_t b) const;

  const QueryContext& context_;
  const MemoryBudget budget_;
  const Compare compare_;
  const std::optional<int64_t> limit_;
  std::vector<Entry> entries_;  // with a limit a heap, the last of the order on top, until sorted
  size_t held_bytes_ = 0;
  int64_t kept_bytes_ = 0;
  int64_t spills_ = 0;
  uint64_t arrived_ = 0;
  int64_t count_ = 0;
  bool finished_ = false;
  size_t next_ = 0;    // of entries_, when nothing was spilled
  int64_t given_ = 0;  // by Next
  std::unique_ptr<SpillFile> file_;
  std::vector<Run> runs_;                         // in the order of arrival
  std::vector<std::unique_ptr<Source>> sources_;  // null once they have ended
  std::vector<size_t> heap_;                      // of sources, the first of the order on top
};

}  // namespace evenkeel::query
