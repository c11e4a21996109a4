// Walking the sorted rows, one series per partition.
#include "query/exec/densify.h"

#include <algorithm>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/exec/measured.h"
#include "query/exec/set_path.h"
#include "query/expr/kernel.h"

namespace evenkeel::query {
namespace {

constexpr int64_t kAddedMax = 500'000;  // as MongoDB's

}  // namespace

using Extent = DensifySpec::Extent;

DensifyOperator::DensifyOperator(std::unique_ptr<Operator> input, const DensifySpec& spec,
                                 const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      collation_(context.collation),
      budget_(context, "$densify", context.memory.densify),
      sorter_(context, "$densify", context.memory.densify,
              [this](bson::View a, bson::View b) { return CompareKeys(a, b); }),
      series_(Less{context.collation}) {}

bool DensifyOperator::Less::operator()(const bson::Document& a, const bson::Document& b) const {
  return bson::CompareDocuments(a, b, collation) < 0;
}

int DensifyOperator::Compare(bson::Value a, bson::Value b) const {
  return bson::Compare(a, b, collation_);
}

absl::Status DensifyOperator::Check(bson::Value value) const {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.IsNumber() && !value.Is(bson::Type::kDate)) {
    return Error(Location(5733201), "Densify field type must be numeric or a date, found {}",
                 expr::TypeName(value.type()));
  }
  if (value.IsNumber() == spec_.unit.has_value()) {
    return Error(Location(6053600),
                 "Encountered a {} in the densify field, which does not fit the step's unit",
                 expr::TypeName(value.type()));
  }
  return absl::OkStatus();
}

absl::Status DensifyOperator::Take(Row row) {
  const bson::Value value = bson::LookupPlain(row.view, spec_.field);
  EVENKEEL_RETURN_IF_ERROR(Check(value));
  if (!value.IsNullish()) {
    if (least_.value().missing() || Compare(value, least_) < 0) least_ = bson::OwnedValue(value);
    if (most_.value().missing() || Compare(value, most_) > 0) most_ = bson::OwnedValue(value);
  }
  bson::Builder key;
  key.OpenArray("p");
  bson::ArrayAppender values(key);
  for (const bson::Path& path : spec_.partition_by) {
    const bson::Value part = bson::LookupPlain(row.view, path);
    values.Add(part.missing() ? NullValue() : part);
  }
  key.Close().Append("v", value);
  return sorter_.Add(key.Finish(), std::move(row));
}

int DensifyOperator::CompareKeys(bson::View a, bson::View b) const {
  if (spec_.extent == Extent::kPartition) {
    const int order = Compare(a["p"], b["p"]);
    if (order != 0) return order;
  }
  const bson::Value left = a["v"], right = b["v"];
  if (left.IsNullish() || right.IsNullish()) return right.IsNullish() - left.IsNullish();
  return Compare(left, right);
}

bson::OwnedValue DensifyOperator::ValueAt(const Series& series) const {
  const bson::Value base = series.base;
  if (spec_.unit) {
    const int64_t step = bson::ToInt64Truncated(spec_.step);
    EvalArena arena;
    return bson::OwnedValue(
        arena.Date(window::AddUnits(base.AsDateMillis(), *spec_.unit, series.steps * step)));
  }
  const bson::Number way = bson::Multiply(
      bson::Number::From(spec_.step), series.steps <= INT32_MAX
                                          ? bson::Number::Int32(static_cast<int32_t>(series.steps))
                                          : bson::Number::Int64(series.steps));
  return bson::Add(bson::Number::From(base), way).ToValue();
}

absl::Status DensifyOperator::FillTo(const bson::Document& partition, Series& series,
                                     bson::Value end, bool inclusive) {
  for (;; ++series.steps) {
    const bson::OwnedValue value = ValueAt(series);
    const int order = Compare(value, end);
    if (order > 0 || (order == 0 && !inclusive)) return absl::OkStatus();
    if (++added_ > kAddedMax) {
      return Error(Location(5897900), "$densify would add more than {} documents", kAddedMax);
    }
    bson::Document document;
    size_t i = 0;
    for (const bson::Element& part : partition.view()) {
      document = WithField(document, spec_.partition_by[i++], part.value);
    }
    ready_.push_back(Row::Own(WithField(document, spec_.field, value)));
    ready_bytes_ += sizeof(Row) + ready_.back().view.SizeBytes();
    if (budget_.Exceeded(ready_bytes_)) return budget_.Refuse();
  }
}

absl::Status DensifyOperator::FillEnds() {
  if (spec_.extent == Extent::kPartition) return absl::OkStatus();
  if (spec_.extent == Extent::kExplicit && spec_.partition_by.empty() && series_.empty()) {
    series_.emplace(bson::Document(), Series{.base = spec_.low});
  }
  const bool full = spec_.extent == Extent::kFull;
  for (auto& [partition, series] : series_) {
    EVENKEEL_RETURN_IF_ERROR(FillTo(partition, series, full ? most_ : spec_.high, full));
  }
  return absl::OkStatus();
}

absl::Status DensifyOperator::MakeMore() {
  ready_.clear();
  ready_bytes_ = 0;
  at_ = 0;
  KeyedRow next;
  EVENKEEL_ASSIGN_OR_RETURN(const bool more, sorter_.Next(&next));
  if (!more) {
    ended_ = true;
    return FillEnds();
  }
  const bson::Value value = next.key["v"];
  const bool outside =
      spec_.extent == Extent::kExplicit && !value.IsNullish() && Compare(value, spec_.low) < 0;
  if (!value.IsNullish() && !outside) {
    const bool explicit_range = spec_.extent == Extent::kExplicit;
    const bson::OwnedValue base = explicit_range                  ? spec_.low
                                  : spec_.extent == Extent::kFull ? least_
                                                                  : bson::OwnedValue(value);
    const bson::Document partition(next.key["p"].AsDocument());
    Series& series = series_.try_emplace(partition, Series{.base = base}).first->second;
    const bool past = explicit_range && Compare(value, spec_.high) >= 0;
    EVENKEEL_RETURN_IF_ERROR(FillTo(partition, series, past ? spec_.high : value, false));
    if (!past && Compare(ValueAt(series), value) == 0) ++series.steps;
  }
  ready_.push_back(std::move(next.row));
  return absl::OkStatus();
}

void DensifyOperator::AppendStats(bson::Builder* out) const {
  AppendSpilling(sorter_.spills(), sorter_.file(), out);
}

absl::StatusOr<Step> DensifyOperator::Pull(Batch* out) {
  while (!sorter_.finished()) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Take(std::move(row)));
    if (step == Step::kEnd) EVENKEEL_RETURN_IF_ERROR(sorter_.Finish());
  }
  size_t count = 0;
  while (count < kBatchRows) {
    if (at_ == ready_.size()) {
      if (ended_) break;
      EVENKEEL_RETURN_IF_ERROR(MakeMore());
      continue;
    }
    out->push_back(std::move(ready_[at_++]));
    ++count;
  }
  return count > 0 ? Step::kRows : Step::kEnd;
}

}  // namespace evenkeel::query
