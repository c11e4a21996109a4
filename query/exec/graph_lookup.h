// $graphLookup: follows references through a collection, level by level.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bson/path.h"
#include "query/exec/foreign.h"
#include "query/exec/memory_budget.h"
#include "query/exec/operator.h"
#include "query/expr/expression.h"

namespace evenkeel::query {

// A parsed $graphLookup.
struct GraphLookupSpec {
  std::string ns;
  ExpressionPtr start_with;
  bson::Path connect_from, connect_to, as;
  std::optional<int64_t> max_depth;
  std::optional<bson::Path> depth_field;
  bson::Document restrict_to;  // restrictSearchWithMatch
};

// One row at a time; each level is one read of everything that the level before refers to. Every
// document is found once. `spec` and `context`, which has foreign reads, outlive the operator.
// Limits   the documents found for one row: the context's memory, and a document's size.
class GraphLookupOperator final : public Operator {
 public:
  GraphLookupOperator(std::unique_ptr<Operator> input, const GraphLookupSpec& spec,
                      const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  struct Less {
    const bson::StringComparator* collation;
    bool operator()(const bson::OwnedValue& a, const bson::OwnedValue& b) const;
  };
  using Values = std::set<bson::OwnedValue, Less>;

  // Takes the next row and its first level; false at the end of the input.
  absl::StatusOr<Step> Start();
  // Adds a value to the next level unless it was followed before.
  void Follow(bson::Value value);
  // Reads the next level when there is one.
  void BeginLevel();
  absl::Status TakeFound();
  absl::Status Emit(Batch* out);

  std::unique_ptr<Operator> input_;
  const GraphLookupSpec& spec_;
  const QueryContext& context_;
  const MemoryBudget budget_;
  Evaluation evaluation_;
  Batch rows_;
  size_t next_ = 0;
  bool input_ended_ = false;
  // Of the row under way:
  bool active_ = false;
  int64_t depth_ = 0;
  std::vector<bson::OwnedValue> level_;  // to be read
  Values followed_, found_ids_;
  std::vector<bson::Document> found_;
  size_t held_bytes_ = 0;
  ForeignReadPtr read_;
};

}  // namespace evenkeel::query
