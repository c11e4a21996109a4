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

// Errors: BadValue for $where, 5626500 for $near and its like, 17313 for a $text that is not in the
// first stage: a pipeline has no place for them.
absl::Status CheckOperators(bson::View filter, bool first) {
  for (const auto& [key, value] : filter) {
    if (key == "$where") {
      return Error(ErrorCode::kBadValue,
                   "$where is not allowed inside of a $match aggregation stage");
    }
    if (key == "$text" && !first) {
      return Error(Location(17313), "$match with $text is only allowed as the first stage");
    }
    const bool joins = key == "$and" || key == "$or" || key == "$nor";
    if (joins && value.Is(bson::Type::kArray)) {
      for (const bson::Element& branch : value.AsDocument()) {
        if (!branch.value.Is(bson::Type::kObject)) continue;
        EVENKEEL_RETURN_IF_ERROR(CheckOperators(branch.value.AsDocument(), first));
      }
    }
    if (key.starts_with('$') || !value.Is(bson::Type::kObject)) continue;
    for (const bson::Element& op : value.AsDocument()) {
      if (op.key != "$near" && op.key != "$nearSphere" && op.key != "$geoNear") continue;
      return Error(Location(5626500), "{} is not allowed in this context; use $geoNear, the stage",
                   op.key);
    }
  }
  return absl::OkStatus();
}

absl::Status ParseMatch(const StageOp& op, bson::Value spec, const QueryContext& context,
                        StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(Location(15959), "the match filter must be an expression in an object, not {}",
                 expr::TypeName(spec.type()));
  }
  EVENKEEL_RETURN_IF_ERROR(CheckOperators(spec.AsDocument(), out->empty()));
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
