// $max, $maxN, $min, $minN. Null and missing values do not take part.
#include <algorithm>
#include <vector>

#include "base/bson/document.h"
#include "query/accum/groups.h"
#include "query/accum/parse_n.h"
#include "query/accum/sliding.h"

namespace evenkeel::query::accum {
namespace {

// The highest (kSign 1) or lowest (-1) value.
template <int kSign>
struct ExtremeState {
  bson::OwnedValue best;

  absl::Status Add(bson::Value value, AccumContext& context) {
    if (value.IsNullish()) return absl::OkStatus();
    const bson::Value now = best.value();
    if (now.missing() || kSign * bson::Compare(value, now, context.collation) > 0) {
      context.memory_bytes += value.SizeBytes() - now.SizeBytes();
      best = bson::OwnedValue(value);
    }
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) { return Add(partial, context); }
  void Serialize(bson::Builder& builder, std::string_view key) const { Finish(builder, key); }
  void Finish(bson::Builder& builder, std::string_view key) const {
    if (best.value().missing()) {
      builder.AppendNull(key);
    } else {
      builder.Append(key, best);
    }
  }
};

// The n highest or lowest values, best first.
template <int kSign>
struct ExtremeNState {
  size_t n = 0;
  std::vector<bson::OwnedValue> values;

  absl::Status Init(bson::Value argument) { return ReadN(argument, &n); }
  absl::Status Add(bson::Value value, AccumContext& context) {
    if (value.IsNullish()) return absl::OkStatus();
    const auto better = [&context](bson::Value a, const bson::OwnedValue& b) {
      return kSign * bson::Compare(a, b.value(), context.collation) > 0;
    };
    const auto at = std::upper_bound(values.begin(), values.end(), value, better);
    if (static_cast<size_t>(at - values.begin()) >= n) return absl::OkStatus();
    context.memory_bytes += sizeof(bson::OwnedValue) + value.SizeBytes();
    values.insert(at, bson::OwnedValue(value));
    if (values.size() > n) {
      context.memory_bytes -= sizeof(bson::OwnedValue) + values.back().value().SizeBytes();
      values.pop_back();
    }
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) {
    for (const bson::Element& element : partial.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(Add(element.value, context));
    }
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const { Finish(builder, key); }
  void Finish(bson::Builder& builder, std::string_view key) const {
    builder.OpenArray(key);
    bson::ArrayAppender array(builder);
    for (const bson::OwnedValue& value : values) array.Add(value);
    builder.Close();
  }
};

constexpr AccumOp kRows[] = {
    Row<ExtremeState<1>>({.name = "$max",
                          .parse = ParseUnary,
                          .sliding = MakeSlidingExtreme<1>,
                          .spec = "operator/aggregation/max",
                          .tests = "accumulators/max"}),
    Row<ExtremeNState<1>>({.name = "$maxN",
                           .parse = ParseWithN,
                           .sliding = MakeSlidingExtremeN<1>,
                           .spec = "operator/aggregation/maxN",
                           .tests = "accumulators/maxN"}),
    Row<ExtremeState<-1>>({.name = "$min",
                           .parse = ParseUnary,
                           .sliding = MakeSlidingExtreme<-1>,
                           .spec = "operator/aggregation/min",
                           .tests = "accumulators/min"}),
    Row<ExtremeNState<-1>>({.name = "$minN",
                            .parse = ParseWithN,
                            .sliding = MakeSlidingExtremeN<-1>,
                            .spec = "operator/aggregation/minN",
                            .tests = "accumulators/minN"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> MinMaxOps() { return kRows; }

}  // namespace evenkeel::query::accum
