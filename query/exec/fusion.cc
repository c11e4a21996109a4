// Adding up ranks and scores.
#include "query/exec/fusion.h"

#include <algorithm>
#include <map>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/expr/kernel.h"

namespace evenkeel::query {
namespace {

constexpr double kRankConstant = 60;  // as the manual gives it

}  // namespace

absl::Status FusionOperator::Fuse(bson::View results) {
  const auto less = [this](const bson::OwnedValue& a, const bson::OwnedValue& b) {
    return bson::Compare(a.value(), b.value(), context_.collation) < 0;
  };
  std::map<bson::OwnedValue, Fused, decltype(less)> by_id(less);
  for (size_t i = 0; i < spec_.inputs.size(); ++i) {
    const bson::View rows = results[spec_.inputs[i].name].AsDocument();
    ScoreScale scale(spec_.normalization);
    const auto raw_of = [](bson::View row) {
      const bson::Value score = row[kScoreField];
      return score.IsNumber() ? bson::ToDouble(score) : 0;
    };
    for (const bson::Element& row : rows) scale.Add(raw_of(row.value.AsDocument()));
    int64_t rank = 0;
    for (const bson::Element& row : rows) {
      const bson::View document = row.value.AsDocument();
      Fused& fused = by_id[bson::OwnedValue(document["_id"])];
      if (fused.row.empty()) {
        fused.row = WithoutScore(document);
        fused.places.resize(spec_.inputs.size());
      }
      ++rank;
      Fused::Place& place = fused.places[i];
      if (place.rank != 0) continue;
      place.rank = rank;
      place.raw = raw_of(document);
      const double value =
          spec_.by_rank ? 1 / (kRankConstant + static_cast<double>(rank)) : scale.Apply(place.raw);
      place.value = spec_.inputs[i].weight * value;
    }
  }
  for (auto& [id, fused] : by_id) {
    EVENKEEL_ASSIGN_OR_RETURN(fused.score, ScoreOf(fused));
    fused_.push_back(std::move(fused));
  }
  // Those of equal scores stay in the order of their ids.
  std::stable_sort(fused_.begin(), fused_.end(),
                   [](const Fused& a, const Fused& b) { return a.score > b.score; });
  return absl::OkStatus();
}

absl::StatusOr<double> FusionOperator::ScoreOf(const Fused& fused) const {
  if (!spec_.expression) {
    double sum = 0;
    for (const Fused::Place& place : fused.places) sum += place.value;
    return spec_.by_rank ? sum : sum / static_cast<double>(fused.places.size());
  }
  bson::Builder values;
  for (size_t i = 0; i < fused.places.size(); ++i) {
    values.Append(spec_.inputs[i].name, fused.places[i].value);
  }
  const bson::Document document = values.Finish();
  Evaluation evaluation(context_);
  evaluation.Begin(document);
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value score, spec_.expression->Evaluate(evaluation));
  if (score.IsNumber()) return bson::ToDouble(score);
  return Error(ErrorCode::kTypeMismatch,
               "the combination's expression of $scoreFusion must be a number, found {}",
               expr::TypeName(score.type()));
}

bson::Document FusionOperator::DetailsOf(const Fused& fused) const {
  bson::Builder out;
  out.Append("value", fused.score);
  if (spec_.by_rank) {
    out.Append("description",
               "value output by reciprocal rank fusion algorithm, computed as sum of (weight * (1 "
               "/ (60 + rank))) across input pipelines from which this document is output, from:");
  } else {
    out.Append("description",
               "the value calculated by combining the scores (either normalized or raw) across "
               "input pipelines from which this document is output from:");
    out.Append("normalization", NameOf(spec_.normalization));
    out.OpenDocument("combination").Append("method", spec_.method);
    if (spec_.expression) out.Append("expression", spec_.expression_text);
    out.Close();
  }
  out.OpenArray("details");
  bson::ArrayAppender array(out);
  for (size_t i = 0; i < fused.places.size(); ++i) {
    const Fused::Place& place = fused.places[i];
    const FusionSpec::Input& input = spec_.inputs[i];
    out.OpenDocument(array.NextKey()).Append("inputPipelineName", input.name);
    if (spec_.by_rank && place.rank == 0) {
      out.Append("rank", "NA");
    } else if (spec_.by_rank) {
      out.Append("rank", place.rank);
    } else {
      out.Append("inputPipelineRawScore", place.raw);
    }
    out.Append("weight", input.weight);
    if (!spec_.by_rank) out.Append("value", place.value);
    out.OpenArray("details").Close().Close();
  }
  out.Close();
  return out.Finish();
}

Row FusionOperator::RowOf(const Fused& fused) const {
  if (!spec_.keep_score) return Row::Own(bson::Document(fused.row));
  if (!spec_.details) return Row::Own(WithScore(fused.row, fused.score, bson::Value()));
  const bson::Document details = DetailsOf(fused);
  const bson::Value value(bson::Type::kObject, details.view().data());
  return Row::Own(WithScore(fused.row, fused.score, value));
}

absl::StatusOr<Step> FusionOperator::Pull(Batch* out) {
  while (!done_) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, inputs_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (const Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(Fuse(row.view));
    done_ = step == Step::kEnd;
  }
  if (next_ == fused_.size()) return Step::kEnd;
  for (size_t count = 0; count < kBatchRows && next_ < fused_.size(); ++count) {
    out->push_back(RowOf(fused_[next_]));
    fused_[next_++] = Fused();
  }
  return Step::kRows;
}

}  // namespace evenkeel::query
