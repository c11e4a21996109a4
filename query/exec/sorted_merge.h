// Brings the streams of several shards together: in the order of their sort keys, or as they come.
#pragma once

#include <memory>
#include <vector>

#include "query/exec/operator.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query {

// Merges inputs that are sorted by their "$sortKey" fields, which it removes. Equal keys: the
// earlier input first. kNeedInput while any unfinished input has no row: the driver feeds every
// empty queue, then asks again. Inputs, pattern and collation outlive the operator.
class SortedMerge final : public Operator {
 public:
  SortedMerge(std::vector<Operator*> inputs, const SortPattern& pattern,
              const bson::StringComparator* collation);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  struct Source {
    Operator* input;
    Batch rows;
    size_t next = 0;
    bool ended = false;
    const Row& front() const { return rows[next]; }
    bool empty() const { return next == rows.size(); }
  };
  // Makes sure that the source has a row or has ended. False: it must be fed.
  absl::StatusOr<bool> Fill(Source& source);
  // The source with the lowest key, null when all have ended.
  Source* Lowest();

  std::vector<Source> sources_;
  const SortPattern& pattern_;
  const bson::StringComparator* collation_;
};

// Passes on the rows of all inputs in any order. kNeedInput when no input has a row and not all
// have ended. Inputs outlive the operator.
class UnorderedMerge final : public Operator {
 public:
  explicit UnorderedMerge(std::vector<Operator*> inputs) : inputs_(std::move(inputs)) {}
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  std::vector<Operator*> inputs_;  // those that have not ended
  size_t turn_ = 0;
};

}  // namespace evenkeel::query
