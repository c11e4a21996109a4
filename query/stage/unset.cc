// $unset: an exclusion by names.
#include "base/bson/builder.h"
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/projection_stage.h"

namespace evenkeel::query::stage {
namespace {

absl::StatusOr<std::vector<std::string>> PathsOf(bson::Value spec) {
  std::vector<std::string> paths;
  if (spec.Is(bson::Type::kString)) {
    paths.emplace_back(spec.AsString());
  } else if (spec.Is(bson::Type::kArray)) {
    for (const bson::Element& element : spec.AsDocument()) {
      if (!element.value.Is(bson::Type::kString)) {
        return Error(Location(31120),
                     "$unset specification must be a string or an array containing only strings");
      }
      paths.emplace_back(element.value.AsString());
    }
    if (paths.empty()) {
      return Error(Location(31119), "$unset specification must have at least one field");
    }
  } else {
    return Error(Location(31002), "$unset specification must be a string or an array");
  }
  return paths;
}

absl::Status ParseUnset(const StageOp& op, bson::Value spec, const QueryContext& context,
                        StageList* out) {
  EVENKEEL_ASSIGN_OR_RETURN(std::vector<std::string> paths, PathsOf(spec));
  bson::Builder exclusion;
  for (const std::string& path : paths) {
    if (path.find('\0') != std::string::npos) {
      return Error(Location(9527900), "$unset paths may not contain null bytes");
    }
    EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(path));
    exclusion.Append(path, false);
  }
  const bson::Document excluded = exclusion.Finish();
  EVENKEEL_ASSIGN_OR_RETURN(Projection projection,
                            Projection::Parse(excluded, ProjectionKind::kProjectStage, context));
  return AddStage<ProjectionStage>(out, op, spec, std::move(projection), std::move(paths));
}

constexpr StageOp kRows[] = {
    {.name = "$unset",
     .parse = ParseUnset,
     .spec = "operator/aggregation/unset",
     .tests = "stages/unset"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> UnsetStages() { return kRows; }

}  // namespace evenkeel::query::stage
