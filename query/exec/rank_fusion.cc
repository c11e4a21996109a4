// Adding up reciprocal ranks.
#include "query/exec/rank_fusion.h"

#include <algorithm>

#include "base/bson/compare.h"
#include "base/status.h"

namespace evenkeel::query {
namespace {

constexpr double kRankConstant = 60;  // as the manual gives it

}  // namespace

void RankFusionOperator::Fuse(bson::View rankings) {
  const auto less = [this](const bson::OwnedValue& a, const bson::OwnedValue& b) {
    return bson::Compare(a.value(), b.value(), collation_) < 0;
  };
  std::map<bson::OwnedValue, Ranked, decltype(less)> by_id(less);
  for (const auto& [name, rows] : rankings) {
    const auto weight = weights_.find(std::string(name));
    double rank = 0;
    for (const bson::Element& row : rows.AsDocument()) {
      const bson::View document = row.value.AsDocument();
      Ranked& ranked = by_id[bson::OwnedValue(document["_id"])];
      if (ranked.row.empty()) ranked.row = bson::Document(document);
      rank += 1;
      ranked.score += (weight == weights_.end() ? 1.0 : weight->second) / (kRankConstant + rank);
    }
  }
  for (auto& [id, ranked] : by_id) ranked_.push_back(std::move(ranked));
  // Those of equal scores stay in the order of their ids.
  std::stable_sort(ranked_.begin(), ranked_.end(),
                   [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
}

absl::StatusOr<Step> RankFusionOperator::Pull(Batch* out) {
  while (!fused_) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, rankings_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (const Row& row : batch_) Fuse(row.view);
    fused_ = step == Step::kEnd;
  }
  if (next_ == ranked_.size()) return Step::kEnd;
  for (size_t count = 0; count < kBatchRows && next_ < ranked_.size(); ++count) {
    out->push_back(Row::Own(std::move(ranked_[next_++].row)));
  }
  return Step::kRows;
}

}  // namespace evenkeel::query
