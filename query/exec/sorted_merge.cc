// Merging of shard streams.
#include "query/exec/sorted_merge.h"

#include "base/status.h"
#include "query/exec/sort_key.h"

namespace evenkeel::query {
namespace {

bson::View KeyOf(const Row& row) {
  const bson::Value key = row.view[kSortKeyField];
  return key.Is(bson::Type::kArray) ? key.AsDocument() : bson::View();
}

}  // namespace

SortedMerge::SortedMerge(std::vector<Operator*> inputs, const SortPattern& pattern,
                         const bson::StringComparator* collation)
    : pattern_(pattern), collation_(collation) {
  for (Operator* input : inputs) sources_.push_back({.input = input, .rows = {}});
}

absl::StatusOr<bool> SortedMerge::Fill(Source& source) {
  while (source.empty() && !source.ended) {
    source.rows.clear();
    source.next = 0;
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, source.input->Pull(&source.rows));
    if (step == Step::kNeedInput) return false;
    source.ended = step == Step::kEnd;
  }
  return true;
}

SortedMerge::Source* SortedMerge::Lowest() {
  Source* lowest = nullptr;
  for (Source& source : sources_) {
    if (source.empty()) continue;
    if (lowest == nullptr ||
        pattern_.CompareKeys(KeyOf(source.front()), KeyOf(lowest->front()), collation_) < 0) {
      lowest = &source;
    }
  }
  return lowest;
}

absl::StatusOr<Step> SortedMerge::Pull(Batch* out) {
  const size_t before = out->size();
  while (out->size() - before < kBatchRows) {
    for (Source& source : sources_) {
      EVENKEEL_ASSIGN_OR_RETURN(const bool ready, Fill(source));
      if (!ready) return out->size() > before ? Step::kRows : Step::kNeedInput;
    }
    Source* lowest = Lowest();
    if (lowest == nullptr) return out->size() > before ? Step::kRows : Step::kEnd;
    out->push_back(Row::Own(WithoutSortKey(lowest->front().view)));
    lowest->rows[lowest->next++] = Row();
  }
  return Step::kRows;
}

absl::StatusOr<Step> UnorderedMerge::Pull(Batch* out) {
  const size_t before = out->size();
  for (size_t tried = 0; tried < inputs_.size();) {
    if (turn_ >= inputs_.size()) turn_ = 0;
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, inputs_[turn_]->Pull(out));
    if (step == Step::kEnd) {
      inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(turn_));
    } else {
      ++turn_;
      ++tried;
    }
    if (out->size() > before) return Step::kRows;
  }
  return inputs_.empty() ? Step::kEnd : Step::kNeedInput;
}

}  // namespace evenkeel::query
