// $bucketAuto: sorts all rows by an expression and cuts them into buckets of about equal size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "query/accum/states.h"
#include "query/exec/granularity.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/exec/sorter.h"
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
// 40258 to 40260 for values that cannot be rounded. Limits   the context's memory; past it the
// rows go to disk.
class BucketAutoOperator final : public Operator {
 public:
  BucketAutoOperator(std::unique_ptr<Operator> input, const BucketAutoSpec& spec,
                     const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;
  void AppendStats(bson::Builder* out) const override;

 private:
  // The states of one bucket's output under way.
  struct Bucket;
  absl::Status Take(Row row);
  absl::Status CheckRoundable(bson::Value key) const;
  bson::OwnedValue Rounded(bson::Value key, bool up) const;
  // Steps to the next row of the order; front_ is empty at the end.
  absl::Status Advance();
  bson::Value FrontKey() const { return front_->key["0"]; }
  absl::StatusOr<bson::Document> MakeBucket(bool last);
  // Puts rows that belong to the bucket whatever its size into it; returns its upper bound.
  absl::StatusOr<bson::OwnedValue> TakeEquals(Bucket& bucket, bson::OwnedValue last_key);
  absl::Status AddFront(Bucket& bucket);
  int Compare(bson::Value a, bson::Value b) const;

  std::unique_ptr<Operator> input_;
  const BucketAutoSpec& spec_;
  const MemoryBudget budget_;  // of the accumulators
  Evaluation evaluation_;
  Sorter sorter_;
  std::optional<KeyedRow> front_;
  int32_t made_ = 0;
  bson::OwnedValue last_max_;  // rounded, of the bucket before
  Batch batch_;
};

}  // namespace evenkeel::query
