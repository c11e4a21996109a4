// Random samples by the lowest of random numbers.
#include "query/exec/sample.h"

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/random.h"
#include "base/status.h"
#include "query/exec/measured.h"
#include "query/exec/sort_key.h"

namespace evenkeel::query {
namespace {

// An array of one random number in [0, 1).
bson::Document RandomKey() {
  constexpr double kTwoTo53 = 9007199254740992.0;
  bson::Builder key;
  key.Append("0", static_cast<double>(base::GlobalRandom64() >> 11) / kTwoTo53);
  return key.Finish();
}

}  // namespace

SampleOperator::SampleOperator(std::unique_ptr<Operator> input, int64_t size, bool emit_sort_key,
                               const QueryContext& context)
    : input_(std::move(input)),
      emit_sort_key_(emit_sort_key),
      sorter_(
          context, "$sample", context.memory.sort,
          [](bson::View a, bson::View b) { return bson::CompareDocuments(a, b); }, size) {}

void SampleOperator::AppendStats(bson::Builder* out) const {
  AppendSpilling(sorter_.spills(), sorter_.file(), out);
}

absl::StatusOr<Step> SampleOperator::Pull(Batch* out) {
  while (!sorter_.finished()) {
    batch_.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
    if (step == Step::kNeedInput) return step;
    for (Row& row : batch_) EVENKEEL_RETURN_IF_ERROR(sorter_.Add(RandomKey(), std::move(row)));
    if (step == Step::kEnd) EVENKEEL_RETURN_IF_ERROR(sorter_.Finish());
  }
  KeyedRow next;
  for (size_t count = 0; count < kBatchRows; ++count) {
    EVENKEEL_ASSIGN_OR_RETURN(const bool more, sorter_.Next(&next));
    if (!more) return count > 0 ? Step::kRows : Step::kEnd;
    if (emit_sort_key_) {
      const bson::Value key(bson::Type::kArray, next.key.view().data());
      next.row = Row::Own(WithSortKey(next.row.view, key));
    }
    out->push_back(std::move(next.row));
  }
  return Step::kRows;
}

}  // namespace evenkeel::query
