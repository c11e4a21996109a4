// $facet.
#include "query/exec/facet.h"
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/pipeline.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

struct Branch {
  std::string name;
  Pipeline pipeline;
};

class FacetStage final : public Stage {
 public:
  FacetStage(const StageOp& op, bson::Value spec, std::vector<Branch> branches)
      : Stage(op, spec), branches_(std::move(branches)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    std::vector<FacetOperator::Branch> branches;
    for (const Branch& branch : branches_) {
      FacetOperator::Branch built{.name = branch.name};
      auto queue = std::make_unique<InputQueue>();
      built.queue = queue.get();
      EVENKEEL_ASSIGN_OR_RETURN(built.last, branch.pipeline.Build(std::move(queue), context));
      branches.push_back(std::move(built));
    }
    return std::make_unique<FacetOperator>(std::move(input), std::move(branches), context);
  }
  bool NeedsRouter() const override {
    for (const Branch& branch : branches_) {
      if (branch.pipeline.NeedsRouter()) return true;
    }
    return false;
  }

 private:
  std::vector<Branch> branches_;
};

// Stages that read something else than their input, write, or divide again have no place here.
absl::Status CheckAllowed(bson::Value stages, const QueryContext& context) {
  for (const bson::Element& element : stages.AsDocument()) {
    if (!element.value.Is(Type::kObject)) continue;  // said by the pipeline's parser
    const std::string_view name = element.value.AsDocument().Front().key;
    const StageOp* op = FindStage(name);
    if (op == nullptr) continue;
    if (op->allowed_in_facet) continue;
    // Where they may stand comes before whether they may.
    if ((name == "$rankFusion" || name == "$scoreFusion") && element.key != "0") continue;
    if (op->whole_database && !context.ns.ends_with("$cmd.aggregate")) {
      return Error(ErrorCode::kInvalidNamespace, "{} must be run with {{aggregate: 1}}", name);
    }
    return Error(Location(40600), "{} is not allowed to be used within a $facet stage", name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Branch> ParseBranch(const bson::Element& field, const QueryContext& context) {
  EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldName(field.key));
  if (!field.value.Is(Type::kArray)) {
    return Error(Location(40170), "arguments to $facet must be arrays, {} is type {}", field.key,
                 expr::TypeName(field.value.type()));
  }
  for (const bson::Element& stage : field.value.AsDocument()) {
    if (!stage.value.Is(Type::kObject)) {
      return Error(Location(40171),
                   "elements of arrays in $facet spec must be objects, {} holds {}", field.key,
                   expr::TypeName(stage.value.type()));
    }
  }
  EVENKEEL_RETURN_IF_ERROR(CheckAllowed(field.value, context));
  EVENKEEL_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::Parse(field.value.AsDocument(), context));
  pipeline.Optimize();
  return Branch{std::string(field.key), std::move(pipeline)};
}

absl::Status ParseFacet(const StageOp& op, bson::Value spec, const QueryContext& context,
                        StageList* out) {
  if (!spec.Is(Type::kObject) || spec.AsDocument().empty()) {
    return Error(Location(40169),
                 "the $facet specification must be a non-empty object, but found: {}",
                 expr::TypeName(spec.type()));
  }
  std::vector<Branch> branches;
  for (const bson::Element& field : spec.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(Branch branch, ParseBranch(field, context));
    branches.push_back(std::move(branch));
  }
  return AddStage<FacetStage>(out, op, spec, std::move(branches));
}

constexpr StageOp kRows[] = {
    {.name = "$facet",
     .order = Order::kBreaks,
     .bounded_memory = false,
     .allowed_in_facet = false,
     .split = Split::kMerger,
     .parse = ParseFacet,
     .spec = "operator/aggregation/facet",
     .tests = "stages/facet"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> FacetStages() { return kRows; }

}  // namespace evenkeel::query::stage
