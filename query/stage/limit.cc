// $limit.
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "query/exec/streaming.h"
#include "query/stage/groups.h"
#include "query/stage/row_count.h"

namespace evenkeel::query::stage {
namespace {

class LimitStage final : public Stage {
 public:
  LimitStage(const StageOp& op, bson::Value spec, int64_t count) : Stage(op, spec), count_(count) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext&) const override {
    return std::make_unique<LimitOperator>(std::move(input), count_);
  }
  void Divide(std::optional<int64_t>, Halves* halves) const override {
    halves->shard->Add("$limit", spec());
    halves->merge->Add("$limit", spec());
  }
  std::optional<int64_t> LimitCount() const override { return count_; }
  Reads AddReads(const QueryContext&, Dependencies*) const override { return Reads::kSome; }

 private:
  int64_t count_;
};

absl::Status ParseLimit(const StageOp& op, bson::Value spec, const QueryContext&, StageList* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t count, ReadRowCount(op.name, spec, Location(5107201)));
  if (count == 0) return Error(Location(15958), "the limit must be positive");
  return AddStage<LimitStage>(out, op, spec, count);
}

constexpr StageOp kRows[] = {
    {.name = "$limit",
     .split = Split::kHalves,
     .parse = ParseLimit,
     .spec = "operator/aggregation/limit",
     .tests = "stages/limit"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> LimitStages() { return kRows; }

}  // namespace evenkeel::query::stage
