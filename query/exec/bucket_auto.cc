// Cutting the sorted rows.
#include "query/exec/bucket_auto.h"

#include <algorithm>
#include <cmath>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/expr/kernel.h"

namespace evenkeel::query {

BucketAutoOperator::BucketAutoOperator(std::unique_ptr<Operator> input, const BucketAutoSpec& spec,
                                       const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      budget_(context, "$bucketAuto"),
      evaluation_(context) {}

int BucketAutoOperator::Compare(bson::Value a, bson::Value b) const {
  return bson::Compare(a, b, evaluation_.collation());
}

absl::Status BucketAutoOperator::CheckRoundable(bson::Value key) const {
  if (!key.IsNumber()) {
    return Error(Location(40258), "$bucketAuto can round numbers only, found {}",
                 expr::TypeName(key.type()));
  }
  const double number = bson::ToDouble(key);
  if (std::isnan(number)) return Error(Location(40259), "$bucketAuto cannot round NaN");
  if (number < 0) return Error(Location(40260), "$bucketAuto cannot round the negative {}", number);
  return absl::OkStatus();
}

absl::Status BucketAutoOperator::Take(Row row) {
  evaluation_.Begin(row.view);
  EVENKEEL_ASSIGN_OR_RETURN(bson::Value key, spec_.group_by->Evaluate(evaluation_));
  if (key.missing()) key = NullValue();
  if (spec_.granularity) EVENKEEL_RETURN_IF_ERROR(CheckRoundable(key));
  bson::OwnedValue owned(key);
  row.MakeOwned();
  held_bytes_ += sizeof(Entry) + key.SizeBytes() + row.view.SizeBytes();
  if (budget_.Exceeded(held_bytes_)) return budget_.Refuse();
  entries_.push_back({std::move(owned), std::move(row)});
  return absl::OkStatus();
}

bson::OwnedValue BucketAutoOperator::Rounded(bson::Value key, bool up) const {
  const double number = bson::ToDouble(key);
  const Granularity& series = *spec_.granularity;
  return bson::Number::Double(up ? series.RoundUp(number) : series.RoundDown(number)).ToValue();
}

size_t BucketAutoOperator::EndOfBucket(size_t begin, bool last, Bounds* bounds) {
  const size_t count = entries_.size();
  const double ideal = static_cast<double>(count) / spec_.buckets;
  const size_t size = std::max<size_t>(1, static_cast<size_t>(std::llround(ideal)));
  size_t end = last ? count : std::min(count, begin + size);
  bounds->min = entries_[begin].key;
  if (spec_.granularity) {
    bounds->min = made_ == 0 ? Rounded(entries_[begin].key, false) : last_max_;
    bounds->max = Rounded(entries_[end - 1].key, true);
    while (end < count && Compare(entries_[end].key, bounds->max) < 0) ++end;
    last_max_ = bounds->max;
    return end;
  }
  while (end < count && Compare(entries_[end].key, entries_[end - 1].key) == 0) ++end;
  bounds->max = end < count ? entries_[end].key : entries_[end - 1].key;
  return end;
}

absl::StatusOr<bson::Document> BucketAutoOperator::MakeBucket(size_t begin, size_t end,
                                                              const Bounds& bounds) {
  accum::AccumContext context;
  context.collation = evaluation_.collation();
  bson::Builder document;
  document.OpenDocument("_id").Append("min", bounds.min).Append("max", bounds.max).Close();
  for (const accum::OutputField& field : spec_.output) {
    evaluation_.Begin(bson::View());
    EVENKEEL_ASSIGN_OR_RETURN(accum::State state, accum::MakeState(field.accumulator, evaluation_));
    for (size_t i = begin; i < end; ++i) {
      evaluation_.Begin(entries_[i].row.view);
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value,
                                field.accumulator.input->Evaluate(evaluation_));
      EVENKEEL_RETURN_IF_ERROR(state.Add(value, context));
      if (budget_.Exceeded(held_bytes_ + context.memory_bytes)) return budget_.Refuse();
    }
    state.Finish(document, field.name);
  }
  return document.Finish();
}

absl::StatusOr<Step> BucketAutoOperator::Pull(Batch* out) {
  while (!sorted_) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Take(std::move(row)));
    if (step != Step::kEnd) continue;
    std::stable_sort(entries_.begin(), entries_.end(),
                     [this](const Entry& a, const Entry& b) { return Compare(a.key, b.key) < 0; });
    sorted_ = true;
  }
  if (next_ == entries_.size()) return Step::kEnd;
  Bounds bounds;
  const size_t begin = next_;
  next_ = EndOfBucket(begin, made_ + 1 == spec_.buckets, &bounds);
  ++made_;
  EVENKEEL_ASSIGN_OR_RETURN(bson::Document bucket, MakeBucket(begin, next_, bounds));
  out->push_back(Row::Own(std::move(bucket)));
  return Step::kRows;
}

}  // namespace evenkeel::query
