// $lookup: adds to each row the documents of another collection that belong to it.
//
// With localField and foreignField only, the values of a whole batch of rows are read at once and
// joined here; with a pipeline of its own each row has its read, and all rows share one when the
// pipeline depends on none. Where a batch's reads hold too much, its rows are treated one by one,
// and what is read for one row goes to disk.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bson/path.h"
#include "query/exec/foreign.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/exec/row_buffer.h"
#include "query/exec/streaming.h"
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
  std::optional<UnwindOptions> unwind;  // each found document in a row of its own

  bool by_field() const { return local.size() > 0; }
};

// Rows keep their order. `spec` and `context` outlive the operator; the context has foreign reads.
// Errors: 4568 when one row's documents exceed a document's size and are not unwound, those of
// reads and expressions. Limits   what is read for one batch of rows: the context's memory.
class LookupOperator final : public Operator {
 public:
  LookupOperator(std::unique_ptr<Operator> input, const LookupSpec& spec,
                 const QueryContext& context);
  ~LookupOperator() override;
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  // Documents of one read that have arrived, of which the joined ones may lie on disk.
  struct Reading {
    ForeignReadPtr read;
    RowBuffer rows;
    size_t size_bytes = 0;
    bool ended = false;
  };
  class Index;  // of the documents that a batch has read

  absl::StatusOr<Step> NextRows();
  // Begins the reads of the rows from next_ to end_.
  absl::Status Begin();
  absl::Status BeginOne(bson::View row);
  void BeginBatch();
  void AddReading(bson::Document pipeline, bson::Document let);
  // Takes what has arrived; true when everything has.
  absl::StatusOr<bool> Collect();
  // Gives the reads up and begins again with one row.
  absl::Status BeginSmaller();
  // Joins the row at next_ as far as `out` has room; steps to the next row when it is done.
  absl::Status Join(Batch* out);
  // The next document of the row at next_; nothing at their end.
  absl::StatusOr<std::optional<bson::View>> NextFound();
  absl::Status AddArray(Batch* out);
  absl::Status AddUnwound(Batch* out);
  void EndRow();

  std::unique_ptr<Operator> input_;
  const LookupSpec& spec_;
  const QueryContext& context_;
  const MemoryBudget budget_;
  Evaluation evaluation_;
  Batch rows_;
  size_t next_ = 0;  // the rows from here to end_ are under way
  size_t end_ = 0;
  std::vector<std::unique_ptr<Reading>> readings_;
  const bool shared_;        // one read serves all rows
  bool one_by_one_ = false;  // the rows left in rows_
  bool begun_ = false;
  bool input_ended_ = false;
  std::unique_ptr<Index> index_;  // of the one reading of a batch, when it is complete
  // Of the row at next_:
  bool row_begun_ = false;
  std::optional<RowBuffer::Reader> reader_;
  std::vector<size_t> found_;  // by index_
  size_t found_next_ = 0;
  int64_t found_count_ = 0;  // given so far
};

// {field: {$in: values}}, with regular expressions as values and not as patterns.
bson::Document MatchAnyOf(std::string_view field, const std::vector<bson::OwnedValue>& values);
// The pipeline's array with {$match: filter} in front, or behind the $documents that it begins
// with.
bson::Document WithMatchInFront(const bson::Document& filter, bson::View pipeline);
// The values at a path, arrays taken apart; null when there is none.
std::vector<bson::OwnedValue> ValuesAt(bson::View row, const bson::Path& path);

}  // namespace evenkeel::query
