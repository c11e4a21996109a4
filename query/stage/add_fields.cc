// $addFields and its other name $set.
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/projection_stage.h"

namespace evenkeel::query::stage {
namespace {

absl::Status ParseAddFields(const StageOp& op, bson::Value spec, const QueryContext& context,
                            StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(Location(40272), "{} specification stage must be an object, got {}", op.name,
                 expr::TypeName(spec.type()));
  }
  EVENKEEL_ASSIGN_OR_RETURN(
      Projection projection,
      Projection::Parse(spec.AsDocument(), ProjectionKind::kAddFields, context));
  std::vector<std::string> changed;
  for (const bson::Element& field : spec.AsDocument()) changed.emplace_back(field.key);
  return AddStage<ProjectionStage>(out, op, spec, std::move(projection), std::move(changed));
}

constexpr StageOp kRows[] = {
    {.name = "$addFields",
     .parse = ParseAddFields,
     .spec = "operator/aggregation/addFields",
     .tests = "stages/set"},
    {.name = "$set",
     .parse = ParseAddFields,
     .spec = "operator/aggregation/set",
     .tests = "stages/set"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> AddFieldsStages() { return kRows; }

}  // namespace evenkeel::query::stage
