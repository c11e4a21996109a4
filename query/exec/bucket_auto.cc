// Cutting the sorted rows.
#include "query/exec/bucket_auto.h"

#include <algorithm>
#include <cmath>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/exec/measured.h"
#include "query/expr/kernel.h"

namespace evenkeel::query {

BucketAutoOperator::BucketAutoOperator(std::unique_ptr<Operator> input, const BucketAutoSpec& spec,
                                       const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      budget_(context, "$bucketAuto", context.memory.bucket_auto),
      evaluation_(context),
      sorter_(context, "$bucketAuto", context.memory.bucket_auto,
              [this](bson::View a, bson::View b) { return Compare(a["0"], b["0"]); }) {}

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
  bson::Builder array;
  array.Append("0", key);
  return sorter_.Add(array.Finish(), std::move(row));
}

bson::OwnedValue BucketAutoOperator::Rounded(bson::Value key, bool up) const {
  const double number = bson::ToDouble(key);
  const Granularity& series = *spec_.granularity;
  return bson::Number::Double(up ? series.RoundUp(number) : series.RoundDown(number)).ToValue();
}

struct BucketAutoOperator::Bucket {
  accum::AccumContext context;
  std::vector<accum::State> states;
};

absl::Status BucketAutoOperator::Advance() {
  KeyedRow next;
  EVENKEEL_ASSIGN_OR_RETURN(const bool more, sorter_.Next(&next));
  front_.reset();
  if (more) front_ = std::move(next);
  return absl::OkStatus();
}

absl::Status BucketAutoOperator::AddFront(Bucket& bucket) {
  evaluation_.Begin(front_->row.view);
  for (size_t i = 0; i < bucket.states.size(); ++i) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value,
                              spec_.output[i].accumulator.input->Evaluate(evaluation_));
    EVENKEEL_RETURN_IF_ERROR(bucket.states[i].Add(value, bucket.context));
  }
  if (budget_.Exceeded(bucket.context.memory_bytes)) return budget_.Refuse();
  return Advance();
}

absl::StatusOr<bson::OwnedValue> BucketAutoOperator::TakeEquals(Bucket& bucket,
                                                                bson::OwnedValue last_key) {
  if (spec_.granularity) {
    last_max_ = Rounded(last_key, true);
    while (front_ && Compare(FrontKey(), last_max_) < 0) {
      EVENKEEL_RETURN_IF_ERROR(AddFront(bucket));
    }
    return last_max_;
  }
  while (front_ && Compare(FrontKey(), last_key) == 0) EVENKEEL_RETURN_IF_ERROR(AddFront(bucket));
  return front_ ? bson::OwnedValue(FrontKey()) : last_key;
}

absl::StatusOr<bson::Document> BucketAutoOperator::MakeBucket(bool last) {
  Bucket bucket;
  bucket.context.collation = evaluation_.collation();
  for (const accum::OutputField& field : spec_.output) {
    evaluation_.Begin(bson::View());
    EVENKEEL_ASSIGN_OR_RETURN(accum::State state, accum::MakeState(field.accumulator, evaluation_));
    bucket.states.push_back(std::move(state));
  }
  const double ideal = static_cast<double>(sorter_.count()) / spec_.buckets;
  const auto size = std::max<int64_t>(1, std::llround(ideal));
  bson::OwnedValue min(FrontKey());
  if (spec_.granularity) min = made_ == 1 ? Rounded(min, false) : last_max_;
  bson::OwnedValue last_key;
  for (int64_t count = 0; front_ && (last || count < size); ++count) {
    last_key = bson::OwnedValue(FrontKey());
    EVENKEEL_RETURN_IF_ERROR(AddFront(bucket));
  }
  EVENKEEL_ASSIGN_OR_RETURN(const bson::OwnedValue max, TakeEquals(bucket, std::move(last_key)));
  bson::Builder document;
  document.OpenDocument("_id").Append("min", min).Append("max", max).Close();
  for (size_t i = 0; i < bucket.states.size(); ++i) {
    bucket.states[i].Finish(document, spec_.output[i].name);
  }
  return document.Finish();
}

void BucketAutoOperator::AppendStats(bson::Builder* out) const {
  AppendSpilling(sorter_.spills(), sorter_.file(), out);
}

absl::StatusOr<Step> BucketAutoOperator::Pull(Batch* out) {
  while (!sorter_.finished()) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Take(std::move(row)));
    if (step != Step::kEnd) continue;
    EVENKEEL_RETURN_IF_ERROR(sorter_.Finish());
    EVENKEEL_RETURN_IF_ERROR(Advance());
  }
  if (!front_) return Step::kEnd;
  const bool last = ++made_ == spec_.buckets;
  EVENKEEL_ASSIGN_OR_RETURN(bson::Document bucket, MakeBucket(last));
  out->push_back(Row::Own(std::move(bucket)));
  return Step::kRows;
}

}  // namespace evenkeel::query
