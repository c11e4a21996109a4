// $count, and the half that adds up the shards' counts.
#include "query/exec/count.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

constexpr std::string_view kMergeName = "$_mergeCount";

class CountStage final : public Stage {
 public:
  CountStage(const StageOp& op, bson::Value spec, bool of_counts)
      : Stage(op, spec), of_counts_(of_counts) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext&) const override {
    return std::make_unique<CountOperator>(std::move(input), std::string(spec().AsString()),
                                           of_counts_);
  }
  void Divide(std::optional<int64_t>, Halves* halves) const override {
    halves->shard->Add("$count", spec());
    halves->merge->Add(kMergeName, spec());
  }
  Reads AddReads(const QueryContext&, Dependencies*) const override {
    return of_counts_ ? Reads::kAll : Reads::kOnly;
  }

 private:
  bool of_counts_;
};

absl::Status ParseCount(const StageOp& op, bson::Value spec, const QueryContext&, StageList* out) {
  if (!spec.Is(bson::Type::kString)) {
    return Error(Location(40156), "the count field must be a non-empty string");
  }
  const std::string_view name = spec.AsString();
  if (name.empty()) return Error(Location(40157), "the count field must be a non-empty string");
  if (name.starts_with('$')) {
    return Error(Location(40158), "the count field cannot be a $-prefixed path");
  }
  if (name.find('\0') != std::string_view::npos) {
    return Error(Location(40159), "the count field cannot contain a null byte");
  }
  if (name.find('.') != std::string_view::npos) {
    return Error(Location(40160), "the count field cannot contain '.'");
  }
  return AddStage<CountStage>(out, op, spec, op.name == kMergeName);
}

constexpr StageOp kRows[] = {
    {.name = kMergeName,
     .where = Where::kRouter,
     .order = Order::kBreaks,
     .internal = true,
     .split = Split::kMerger,
     .parse = ParseCount,
     .spec = "operator/aggregation/count",
     .tests = "stages/count"},
    {.name = "$count",
     .order = Order::kBreaks,
     .split = Split::kHalves,
     .parse = ParseCount,
     .spec = "operator/aggregation/count",
     .tests = "stages/count"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> CountStages() { return kRows; }

}  // namespace evenkeel::query::stage
