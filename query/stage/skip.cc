// $skip.
#include "base/bson/builder.h"
#include "query/exec/streaming.h"
#include "query/stage/groups.h"
#include "query/stage/row_count.h"

namespace evenkeel::query::stage {
namespace {

class SkipStage final : public Stage {
 public:
  SkipStage(const StageOp& op, bson::Value spec, int64_t count) : Stage(op, spec), count_(count) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext&) const override {
    if (count_ == 0) return input;
    return std::make_unique<SkipOperator>(std::move(input), count_);
  }
  // A shard cannot know which of its rows are passed over; it only stops when enough are there.
  void Divide(std::optional<int64_t> rows_wanted, Halves* halves) const override {
    int64_t enough = 0;
    if (rows_wanted && !__builtin_add_overflow(*rows_wanted, count_, &enough)) {
      bson::Builder limit;
      limit.Append("n", enough);
      halves->shard->Add("$limit", limit.Finish()["n"]);
    }
    halves->merge->Add("$skip", spec());
  }
  std::optional<int64_t> SkipCount() const override { return count_; }
  Reads AddReads(const QueryContext&, Dependencies*) const override { return Reads::kSome; }

 private:
  int64_t count_;
};

absl::Status ParseSkip(const StageOp& op, bson::Value spec, const QueryContext&, StageList* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t count, ReadRowCount(op.name, spec, Location(5107200)));
  return AddStage<SkipStage>(out, op, spec, count);
}

constexpr StageOp kRows[] = {
    {.name = "$skip",
     .split = Split::kHalves,
     .parse = ParseSkip,
     .spec = "operator/aggregation/skip",
     .tests = "stages/skip"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> SkipStages() { return kRows; }

}  // namespace evenkeel::query::stage
