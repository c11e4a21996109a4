// $stdDevPop, $stdDevSamp. Other values than numbers do not take part.
#include "base/bson/number.h"
#include "query/accum/groups.h"
#include "query/accum/moments.h"
#include "query/accum/sliding.h"

namespace evenkeel::query::accum {
namespace {

template <bool kSample>
struct DeviationState {
  Moments moments;

  absl::Status Add(bson::Value value, AccumContext&) {
    if (value.IsNumber()) moments.Add(bson::ToDouble(value));
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext&) {
    const bson::View state = partial.AsDocument();
    moments.Merge(
        {state["count"].AsInt64(), state["mean"].AsDouble(), state["squares"].AsDouble()});
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const {
    builder.OpenDocument(key);
    builder.Append("count", moments.count);
    builder.Append("mean", moments.mean);
    builder.Append("squares", moments.squares);
    builder.Close();
  }
  void Finish(bson::Builder& builder, std::string_view key) const {
    if (const std::optional<double> deviation = moments.Deviation(kSample)) {
      builder.Append(key, *deviation);
    } else {
      builder.AppendNull(key);
    }
  }
};

constexpr AccumOp kRows[] = {
    Row<DeviationState<false>>({.name = "$stdDevPop",
                                .parse = ParseUnary,
                                .sliding = MakeSlidingDeviation<false>,
                                .spec = "operator/aggregation/stdDevPop",
                                .tests = "accumulators/stdDevPop"}),
    Row<DeviationState<true>>({.name = "$stdDevSamp",
                               .parse = ParseUnary,
                               .sliding = MakeSlidingDeviation<true>,
                               .spec = "operator/aggregation/stdDevSamp",
                               .tests = "accumulators/stdDevSamp"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> StatsOps() { return kRows; }

}  // namespace evenkeel::query::accum
