// $sample, and the form in which a shard sends its sample with the random numbers.
#include "query/exec/sample.h"
#include "base/bson/builder.h"
#include "base/bson/decimal.h"
#include "base/bson/number.h"
#include "base/check.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

constexpr std::string_view kStreamName = "$_sampleStream";

class SampleStage final : public Stage {
 public:
  SampleStage(const StageOp& op, bson::Value spec, int64_t size, bool stream)
      : Stage(op, spec), size_(size), stream_(stream) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<SampleOperator>(std::move(input), size_, stream_, context);
  }
  // Merged by their random numbers, the first `size` rows of all samples are a sample of
  // everything.
  void Divide(std::optional<int64_t>, Halves* halves) const override {
    halves->shard->Add(kStreamName, spec());
    bson::Builder builder;
    builder.Append("number", 1);
    absl::StatusOr<SortPattern> by_number = SortPattern::Parse(builder.Finish());
    EVENKEEL_CHECK(by_number.ok());
    halves->merge_sort = *std::move(by_number);
    bson::Builder limit;
    limit.Append("n", size_);
    halves->merge->Add("$limit", limit.Finish()["n"]);
  }
  Reads AddReads(const QueryContext&, Dependencies*) const override { return Reads::kSome; }

 private:
  int64_t size_;
  bool stream_;
};

// Doubles are cut, decimals rounded to the nearest even number.
int64_t WholeSize(bson::Value size) {
  if (!size.Is(bson::Type::kDecimal128)) return bson::ToInt64Truncated(size);
  const bson::Number rounded = bson::Number::Decimal(
      bson::DecimalApply(bson::DecimalFunction::kRoundHalfEven, size.AsDecimal128()));
  return bson::ToInt64Truncated(rounded.ToValue());
}

absl::Status ParseSample(const StageOp& op, bson::Value spec, const QueryContext&, StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(Location(28745), "the $sample stage specification must be an object");
  }
  bson::Value size;
  for (const auto& [key, value] : spec.AsDocument()) {
    if (key != "size") {
      return Error(Location(28748), "unrecognized option to $sample: {}", key);
    }
    size = value;
  }
  if (size.missing()) return Error(Location(28749), "$sample stage must specify a size");
  if (!size.IsNumber()) return Error(Location(28746), "size argument to $sample must be a number");
  const int64_t count = WholeSize(size);
  if (count <= 0) return Error(Location(28747), "size argument to $sample must be positive");
  return AddStage<SampleStage>(out, op, spec, count, op.name == kStreamName);
}

constexpr StageOp kRows[] = {
    {.name = kStreamName,
     .where = Where::kShard,
     .order = Order::kSorts,
     .bounded_memory = false,
     .internal = true,
     .parse = ParseSample,
     .spec = "operator/aggregation/sample",
     .tests = "stages/sample"},
    {.name = "$sample",
     .order = Order::kBreaks,
     .bounded_memory = false,
     .split = Split::kHalves,
     .parse = ParseSample,
     .spec = "operator/aggregation/sample",
     .tests = "stages/sample"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> SampleStages() { return kRows; }

}  // namespace evenkeel::query::stage
