// $bucketAuto: sorts all rows by an expression and cuts them into buckets of about equal size.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "query/accum/states.h"
#include "query/exec/granularity.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/expr/expression.h"

namespace evenkeel::query {

// A parsed $bucketAuto.
struct BucketAutoSpec {
  ExpressionPtr group_by;
  int32_t buckets = 1;
  std::vector<accum::OutputField> output;
  std::unique_ptr<Granularity> granularity;  // null without rounding
};

// Rows with equal values are in one bucket. `spec` and `context` outlive the operator. Errors:
// 40258 to 40260 for values that cannot be rounded. Limits   the context's memory.
class BucketAutoOperator final : public Operator {
 public:
  BucketAutoOperator(std::unique_ptr<Operator> input, const BucketAutoSpec& spec,
                     const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  struct Entry {
    bson::OwnedValue key;
    Row row;
  };
  struct Bounds {
    bson::OwnedValue min, max;
  };
  absl::Status Take(Row row);
  absl::Status CheckRoundable(bson::Value key) const;
  bson::OwnedValue Rounded(bson::Value key, bool up) const;
  // The end of the bucket that starts at `begin`.
  size_t EndOfBucket(size_t begin, bool last, Bounds* bounds);
  absl::StatusOr<bson::Document> MakeBucket(size_t begin, size_t end, const Bounds& bounds);
  int Compare(bson::Value a, bson::Value b) const;

  std::unique_ptr<Operator> input_;
  const BucketAutoSpec& spec_;
  const MemoryBudget budget_;
  Evaluation evaluation_;
  std::vector<Entry> entries_;
  size_t held_bytes_ = 0;
  bool sorted_ = false;
  size_t next_ = 0;
  int32_t made_ = 0;
  bson::OwnedValue last_max_;  // rounded, of the bucket before
  Batch batch_;
};

}  // namespace evenkeel::query
