// What follows from comparisons in $expr.
//
// An expression compares the value at a path as it is, a filter also the elements of an array
// there: whatever the expression accepts the filter accepts too. So the filter is added and the
// expression stays. Order comparisons are left alone: across types expressions know an order and
// filters none.
#include "base/bson/builder.h"
#include "query/expr/expression.h"
#include "query/match/filter.h"
#include "query/stage/rewrite/rules.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

// Equality with it means the same to a filter: no pattern, and nothing that stands for "absent".
bool IsPlain(bson::Value value) {
  return !value.IsNullish() && !value.Is(Type::kRegex) && !value.Is(Type::kArray) &&
         !value.Is(Type::kUndefined);
}

// Collects the comparisons that follow from the expressions of one filter.
class Collector {
 public:
  Collector(const Filter& filter, const QueryContext& context)
      : filter_(filter), context_(context), array_(builder_) {
    builder_.OpenArray("$and");
    AddFromFilter(filter.source());
  }
  bool found() const { return array_.count() > 0; }
  // {$and: [the comparisons, the filter]}.
  bson::Document Finish() {
    array_.Add(filter_.source());
    builder_.Close();
    return builder_.Finish();
  }

 private:
  void AddFromFilter(bson::View filter) {
    for (const auto& [key, value] : filter) {
      if (key == "$expr") AddFromExpression(value);
      if (key != "$and") continue;
      for (const bson::Element& branch : value.AsDocument()) {
        AddFromFilter(branch.value.AsDocument());
      }
    }
  }
  // Looks through the conjunctions of an expression.
  void AddFromExpression(bson::Value expression) {
    if (!expression.Is(Type::kObject)) return;
    const bson::Element op = expression.AsDocument().Front();
    if (!op.value.Is(Type::kArray)) return;
    if (op.key == "$and") {
      for (const bson::Element& branch : op.value.AsDocument()) AddFromExpression(branch.value);
    } else if (op.key == "$eq" || op.key == "$in") {
      AddComparison(op.key, op.value.AsDocument());
    }
  }
  // Adds {path: {$eq: value}} or {path: {$in: values}} if the comparison is plain and the filter
  // does not say so yet.
  void AddComparison(std::string_view op, bson::View arguments) {
    if (arguments.CountFields() != 2) return;
    auto left = Expression::Parse(arguments["0"], context_);
    auto right = Expression::Parse(arguments["1"], context_);
    if (!left.ok() || !right.ok()) return;
    if (op == "$eq" && (*left)->FieldPath().empty()) std::swap(*left, *right);
    const std::string_view path = (*left)->FieldPath();
    const std::optional<bson::Value> value = (*right)->Constant();
    if (path.empty() || !value || filter_.PinnedValues(path)) return;
    if (op == "$in" ? !AllPlain(*value) : !IsPlain(*value)) return;
    builder_.OpenDocument(array_.NextKey()).OpenDocument(path).Append(op, *value).Close().Close();
  }
  static bool AllPlain(bson::Value list) {
    if (!list.Is(Type::kArray)) return false;
    for (const bson::Element& element : list.AsDocument()) {
      if (!IsPlain(element.value)) return false;
    }
    return true;
  }

  const Filter& filter_;
  const QueryContext& context_;
  bson::Builder builder_;
  bson::ArrayAppender array_;
};

}  // namespace

void AddPlainComparisons(StageList& stages, const QueryContext& context) {
  for (std::unique_ptr<Stage>& stage : stages) {
    const Filter* filter = stage->MatchFilter();
    if (filter == nullptr || !filter->HasExpression()) continue;
    Collector collector(*filter, context);
    if (!collector.found()) continue;
    std::unique_ptr<Stage> made = MakeStage("$match", collector.Finish(), context);
    if (made != nullptr) stage = std::move(made);
  }
}

}  // namespace evenkeel::query::stage
