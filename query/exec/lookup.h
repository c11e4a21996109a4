// $lookup: adds to each row the documents of another collection that belong to it.
//
// With localField and foreignField only, the values of a whole batch of rows are read at once and
// joined here; with a pipeline of its own each row has its read, and all rows share one when the
// pipeline depends on none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bson/path.h"
#include "query/exec/foreign.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/expr/expression.h"

namespace evenkeel::query {

// A parsed $lookup.
struct LookupSpec {
  struct Variable {
    std::string name;
    ExpressionPtr value;
  };
  std::string ns;
  bson::Path local, foreign;  // empty paths: not given
  bool has_pipeline = false;
  bson::Document pipeline;  // an array
  std::vector<Variable> let;
  bson::Path as;

  bool by_field() const { return local.size() > 0; }
};

// Rows keep their order. `spec` and `context` outlive the operator; the context has foreign reads.
// Errors: 4568 when one row's documents exceed a document's size, those of reads and expressions.
// Limits   what is read for one batch of rows: the context's memory.
class LookupOperator final : public Operator {
 public:
  LookupOperator(std::unique_ptr<Operator> input, const LookupSpec& spec,
                 const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  // A read and what it has given so far.
  struct Reading {
    ForeignReadPtr read;
    std::vector<bson::Document> rows;
    bool ended = false;
  };
  absl::Status Begin();
  absl::Status BeginOne(bson::View row);
  void BeginBatch();
  // Takes what has arrived; true when everything has.
  absl::StatusOr<bool> Collect();
  absl::Status JoinBatch(Batch* out);
  absl::Status JoinReads(Batch* out);
  absl::StatusOr<Row> Joined(const Row& row, const std::vector<const bson::Document*>& found) const;

  std::unique_ptr<Operator> input_;
  const LookupSpec& spec_;
  const QueryContext& context_;
  const MemoryBudget budget_;
  Evaluation evaluation_;
  Batch rows_;  // under way
  std::vector<Reading> readings_;
  bool shared_ = false;  // one read serves all rows
  bool begun_ = false;
  bool input_ended_ = false;
};

// {field: {$in: values}}, with regular expressions as values and not as patterns.
bson::Document MatchAnyOf(std::string_view field, const std::vector<bson::OwnedValue>& values);
// The pipeline's array with {$match: filter} in front.
bson::Document WithMatchInFront(const bson::Document& filter, bson::View pipeline);
// The values at a path, arrays taken apart; null when there is none.
std::vector<bson::OwnedValue> ValuesAt(bson::View row, const bson::Path& path);

}  // namespace evenkeel::query
