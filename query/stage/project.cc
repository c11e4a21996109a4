// $project.
#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/projection_stage.h"

namespace evenkeel::query::stage {
namespace {

// The paths that an exclusion takes away; nothing for inclusions, which change all paths they do
// not name.
std::optional<std::vector<std::string>> ExcludedPaths(bson::View spec) {
  std::vector<std::string> paths;
  for (const auto& [key, value] : spec) {
    const bool flag = value.IsNumber() || value.Is(bson::Type::kBool);
    if (!flag || bson::Truthy(value)) return std::nullopt;
    paths.emplace_back(key);
  }
  return paths;
}

absl::Status ParseProject(const StageOp& op, bson::Value spec, const QueryContext& context,
                          StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(Location(15969), "$project specification must be an object, not {}",
                 expr::TypeName(spec.type()));
  }
  if (spec.AsDocument().empty()) {
    return Error(Location(51272),
                 "Invalid $project :: caused by :: projection specification must "
                 "have at least one field");
  }
  EVENKEEL_ASSIGN_OR_RETURN(
      Projection projection,
      Projection::Parse(spec.AsDocument(), ProjectionKind::kProjectStage, context));
  return AddStage<ProjectionStage>(out, op, spec, std::move(projection),
                                   ExcludedPaths(spec.AsDocument()));
}

constexpr StageOp kRows[] = {
    {.name = "$project",
     .parse = ParseProject,
     .spec = "operator/aggregation/project",
     .tests = "stages/project"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> ProjectStages() { return kRows; }

}  // namespace evenkeel::query::stage
