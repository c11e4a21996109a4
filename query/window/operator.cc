// Partitions one after the other.
#include "query/window/operator.h"

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/check.h"
#include "base/status.h"
#include "query/exec/measured.h"
#include "query/exec/set_path.h"

namespace evenkeel::query::window {

WindowOperator::WindowOperator(std::unique_ptr<Operator> input, const WindowSpec& spec,
                               const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      evaluation_(context),
      sorter_(context, "$setWindowFields", context.memory.window,
              [this](bson::View a, bson::View b) { return CompareKeys(a, b); }) {}

int WindowOperator::CompareKeys(bson::View a, bson::View b) const {
  const bson::StringComparator* collation = evaluation_.collation();
  int order = bson::Compare(a["p"], b["p"], collation);
  if (order == 0 && !spec_.sort.empty()) {
    order = spec_.sort.CompareKeys(a["s"].AsDocument(), b["s"].AsDocument(), collation);
  }
  return order != 0 ? order : bson::Compare(a["i"], b["i"], collation);
}

absl::Status WindowOperator::Take(Row row) {
  bson::Value partition = NullValue();
  if (spec_.partition_by != nullptr) {
    evaluation_.Begin(row.view);
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, spec_.partition_by->Evaluate(evaluation_));
    if (value.Is(bson::Type::kArray)) {
      return Error(ErrorCode::kTypeMismatch,
                   "An expression used to partition cannot evaluate to value of type array");
    }
    if (!value.IsNullish()) partition = value;
  }
  bson::Builder key;
  key.Append("p", partition);
  if (!spec_.sort.empty()) {
    key.AppendArray("s", spec_.sort.KeyOf(row.view, evaluation_.collation()));
  }
  // Rows of several shards come in no order of their own.
  if (evaluation_.query().is_merge_part) key.Append("i", row.view["_id"]);
  return sorter_.Add(key.Finish(), std::move(row));
}

absl::Status WindowOperator::Advance() {
  KeyedRow next;
  EVENKEEL_ASSIGN_OR_RETURN(const bool more, sorter_.Next(&next));
  front_.reset();
  if (more) front_ = std::move(next);
  return absl::OkStatus();
}

std::unique_ptr<RowBuffer> WindowOperator::NewBuffer() const {
  const QueryContext& context = evaluation_.query();
  return std::make_unique<RowBuffer>(context, "$setWindowFields", context.memory.window);
}

absl::Status WindowOperator::MakePartition() {
  rows_ = NewBuffer();
  const bson::Document key = front_->key;
  while (front_ && bson::Compare(front_->key["p"], key["p"], evaluation_.collation()) == 0) {
    EVENKEEL_RETURN_IF_ERROR(rows_->Append(std::move(front_->row)));
    EVENKEEL_RETURN_IF_ERROR(Advance());
  }
  EVENKEEL_RETURN_IF_ERROR(rows_->Finish());
  // No function sees the fields that others add.
  std::unique_ptr<RowBuffer> given = std::move(rows_);
  const Partition partition{*given, spec_.sort, evaluation_};
  for (const WindowSpec::Output& output : spec_.outputs) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::OwnedValue> values,
                              output.function->Compute(partition));
    std::unique_ptr<RowBuffer> with_field = NewBuffer();
    RowBuffer::Reader reader(rows_ ? *rows_ : *given);
    for (const bson::OwnedValue& value : values) {
      EVENKEEL_ASSIGN_OR_RETURN(const std::optional<bson::View> row, reader.Next());
      EVENKEEL_CHECK(row.has_value());
      EVENKEEL_RETURN_IF_ERROR(with_field->Append(Row::Own(WithField(*row, output.path, value))));
    }
    EVENKEEL_RETURN_IF_ERROR(with_field->Finish());
    rows_ = std::move(with_field);
  }
  if (!rows_) rows_ = std::move(given);
  reader_.emplace(*rows_);
  return absl::OkStatus();
}

void WindowOperator::AppendStats(bson::Builder* out) const {
  AppendSpilling(sorter_.spills(), sorter_.file(), out);
}

absl::StatusOr<Step> WindowOperator::Pull(Batch* out) {
  while (!sorter_.finished()) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Take(std::move(row)));
    if (step != Step::kEnd) continue;
    EVENKEEL_RETURN_IF_ERROR(sorter_.Finish());
    EVENKEEL_RETURN_IF_ERROR(Advance());
  }
  for (size_t count = 0; count < kBatchRows;) {
    if (!reader_) {
      if (!front_) return count > 0 ? Step::kRows : Step::kEnd;
      EVENKEEL_RETURN_IF_ERROR(MakePartition());
    }
    EVENKEEL_ASSIGN_OR_RETURN(const std::optional<bson::View> row, reader_->Next());
    if (row) {
      out->push_back(Row::Own(bson::Document(*row)));
      ++count;
    } else {
      reader_.reset();
    }
  }
  return Step::kRows;
}

}  // namespace evenkeel::query::window
