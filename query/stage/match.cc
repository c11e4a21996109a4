// $match.
#include "query/exec/streaming.h"
#include "query/expr/kernel.h"
#include "query/match/filter.h"
#include "query/stage/groups.h"
#include "query/stage/rewrite/reads.h"

namespace evenkeel::query::stage {
namespace {

class MatchStage final : public Stage {
 public:
  MatchStage(const StageOp& op, bson::Value spec, Filter filter)
      : Stage(op, spec), filter_(std::move(filter)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext&) const override {
    if (filter_.IsTrivial()) return input;
    return std::make_unique<FilterOperator>(std::move(input), filter_);
  }
  const Filter* MatchFilter() const override { return &filter_; }
  Reads AddReads(const QueryContext& context, Dependencies* reads) const override {
    return AddFilterReads(filter_.source(), context, reads) ? Reads::kSome : Reads::kAll;
  }

 private:
  Filter filter_;
};

absl::Status ParseMatch(const StageOp& op, bson::Value spec, const QueryContext& context,
                        StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(Location(15959), "the match filter must be an expression in an object, not {}",
                 expr::TypeName(spec.type()));
  }
  EVENKEEL_ASSIGN_OR_RETURN(Filter filter, Filter::Parse(spec.AsDocument(), context));
  return AddStage<MatchStage>(out, op, spec, std::move(filter));
}

constexpr StageOp kRows[] = {
    {.name = "$match",
     .parse = ParseMatch,
     .spec = "operator/aggregation/match",
     .tests = "stages/match"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> MatchStages() { return kRows; }

}  // namespace evenkeel::query::stage
