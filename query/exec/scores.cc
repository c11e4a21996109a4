// Computing and writing scores.
#include "query/exec/scores.h"

#include <algorithm>
#include <cmath>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/expr/kernel.h"

namespace evenkeel::query {

std::string_view NameOf(Normalization normalization) {
  constexpr std::string_view kNames[] = {"none", "sigmoid", "minMaxScaler"};
  return kNames[static_cast<size_t>(normalization)];
}

void ScoreScale::Add(double score) {
  low_ = std::min(low_, score);
  high_ = std::max(high_, score);
}

double ScoreScale::Apply(double score) const {
  if (normalization_ == Normalization::kNone) return score;
  if (normalization_ == Normalization::kSigmoid) return 1 / (1 + std::exp(-score));
  return high_ > low_ ? (score - low_) / (high_ - low_) : 0;
}

bson::Document WithoutScore(bson::View row) {
  bson::Builder out;
  for (const auto& [key, value] : row) {
    if (key != kScoreField && key != kScoreDetailsField) out.Append(key, value);
  }
  return out.Finish();
}

bson::Document WithScore(bson::View row, double score, bson::Value details) {
  const bool scored = row.Contains(kScoreField);
  const bson::Document plain = scored ? WithoutScore(row) : bson::Document();
  bson::Builder out(scored ? plain.view() : row);
  out.Append(kScoreField, score).Append(kScoreDetailsField, details);
  return out.Finish();
}

ScoreOperator::ScoreOperator(std::unique_ptr<Operator> input, const ScoreSpec& spec,
                             const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      evaluation_(context),
      scale_(spec.normalization),
      kept_(context, "$score", context.memory.sort) {}

absl::StatusOr<double> ScoreOperator::ScoreOf(bson::View row) {
  evaluation_.Begin(row);
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value score, spec_.score->Evaluate(evaluation_));
  if (score.IsNumber()) return bson::ToDouble(score);
  return Error(ErrorCode::kTypeMismatch, "the 'score' of $score must be a number, found {}",
               expr::TypeName(score.type()));
}

Row ScoreOperator::Finished(bson::View row, double score) const {
  const double value = spec_.weight * scale_.Apply(score);
  if (!spec_.details) return Row::Own(WithScore(row, value, bson::Value()));
  bson::Builder details;
  details.Append("value", value)
      .Append("description",
              "the score calculated from multiplying a weight in the range [0,1] with either a "
              "normalized or nonnormalized value:")
      .Append("rawScore", score)
      .Append("normalization", NameOf(spec_.normalization))
      .Append("weight", spec_.weight)
      .Append("expression", spec_.expression)
      .OpenArray("details")
      .Close();
  const bson::Document document = details.Finish();
  return Row::Own(WithScore(row, value, bson::Value(bson::Type::kObject, document.view().data())));
}

absl::StatusOr<Step> ScoreOperator::Keep() {
  for (;;) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (const Row& row : batch_) {
      EVENKEEL_ASSIGN_OR_RETURN(const double score, ScoreOf(row.view));
      scale_.Add(score);
      EVENKEEL_RETURN_IF_ERROR(kept_.Append(Row::Own(WithScore(row.view, score, bson::Value()))));
    }
    if (step != Step::kEnd) continue;
    EVENKEEL_RETURN_IF_ERROR(kept_.Finish());
    reader_.emplace(kept_);
    return step;
  }
}

absl::StatusOr<Step> ScoreOperator::Pull(Batch* out) {
  if (!scale_.needs_all()) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    for (const Row& row : batch_) {
      EVENKEEL_ASSIGN_OR_RETURN(const double score, ScoreOf(row.view));
      out->push_back(Finished(row.view, score));
    }
    return step;
  }
  if (!reader_) {
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, Keep());
    if (step == Step::kNeedInput) return step;
  }
  for (size_t count = 0; count < kBatchRows; ++count) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::optional<bson::View> row, reader_->Next());
    if (!row) return count > 0 ? Step::kRows : Step::kEnd;
    out->push_back(Finished(*row, bson::ToDouble((*row)[kScoreField])));
  }
  return Step::kRows;
}

}  // namespace evenkeel::query
