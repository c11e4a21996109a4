// Operators that hold nothing between rows.
#include "query/exec/streaming.h"

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/exec/set_path.h"
#include "query/exec/sort_key.h"
#include "query/expr/kernel.h"

namespace evenkeel::query {

absl::StatusOr<Step> StreamingOperator::Pull(Batch* out) {
  const size_t before = out->size();
  for (;;) {
    if (Done()) return Step::kEnd;
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step != Step::kRows) return step;
    for (Row& row : batch_) {
      if (Done()) break;
      EVENKEEL_RETURN_IF_ERROR(Process(std::move(row), out));
    }
    if (out->size() > before) return Step::kRows;
  }
}

absl::Status FilterOperator::Process(Row row, Batch* out) {
  bool matches = false;
  if (filter_.HasExpression()) {
    EVENKEEL_ASSIGN_OR_RETURN(matches, filter_.Evaluate(row.view));
  } else {
    matches = filter_.Matches(row.view);
  }
  if (matches) out->push_back(std::move(row));
  return absl::OkStatus();
}

absl::Status ProjectOperator::Process(Row row, Batch* out) {
  EVENKEEL_ASSIGN_OR_RETURN(bson::Document projected, projection_.Apply(row.view, filter_));
  if (keep_sort_key_ && !projected.view().Contains(kSortKeyField)) {
    projected = WithSortKey(projected, row.view[kSortKeyField]);
  }
  out->push_back(Row::Own(std::move(projected)));
  return absl::OkStatus();
}

absl::Status ReplaceRootOperator::Process(Row row, Batch* out) {
  evaluation_.Begin(row.view);
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value root, root_.Evaluate(evaluation_));
  if (!root.Is(bson::Type::kObject)) {
    return Error(Location(40228),
                 "'newRoot' expression must evaluate to an object, but resulting value was of "
                 "type: {}",
                 expr::TypeName(root.type()));
  }
  out->push_back(Row::Own(bson::Document(root.AsDocument())));
  return absl::OkStatus();
}

absl::Status SkipOperator::Process(Row row, Batch* out) {
  if (left_ > 0) {
    --left_;
  } else {
    out->push_back(std::move(row));
  }
  return absl::OkStatus();
}

absl::Status LimitOperator::Process(Row row, Batch* out) {
  --left_;
  out->push_back(std::move(row));
  return absl::OkStatus();
}

bson::Document Unwound(bson::View document, const UnwindOptions& options, bson::Value value,
                       std::optional<int64_t> index) {
  bson::Document rebuilt = WithField(document, options.path, value);
  if (!options.index_as) return rebuilt;
  const int64_t number = index.value_or(0);
  const bson::Value index_value =
      index ? bson::Value(bson::Type::kInt64, reinterpret_cast<const char*>(&number)) : NullValue();
  return WithField(rebuilt, *options.index_as, index_value);
}

absl::Status UnwindOperator::Process(Row row, Batch* out) {
  const bson::Value value = bson::LookupPlain(row.view, options_.path);
  if (value.Is(bson::Type::kArray)) {
    int64_t index = 0;
    for (const bson::Element& element : value.AsDocument()) {
      out->push_back(Row::Own(Unwound(row.view, options_, element.value, index++)));
    }
    if (index > 0 || !options_.preserve_empty) return absl::OkStatus();
    out->push_back(Row::Own(Unwound(row.view, options_, bson::Value(), std::nullopt)));
    return absl::OkStatus();
  }
  if (value.IsNullish() && !options_.preserve_empty) return absl::OkStatus();
  if (options_.index_as) {
    out->push_back(Row::Own(WithField(row.view, *options_.index_as, NullValue())));
  } else {
    out->push_back(std::move(row));
  }
  return absl::OkStatus();
}

absl::StatusOr<Step> DocumentsOperator::Pull(Batch* out) {
  if (next_ == documents_.size()) return Step::kEnd;
  for (size_t count = 0; count < kBatchRows && next_ < documents_.size(); ++count) {
    out->push_back(Row::Own(std::move(documents_[next_++])));
  }
  return Step::kRows;
}

}  // namespace evenkeel::query
