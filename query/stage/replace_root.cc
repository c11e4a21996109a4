// $replaceRoot and its short form $replaceWith.
#include "query/exec/streaming.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

class ReplaceRootStage final : public Stage {
 public:
  ReplaceRootStage(const StageOp& op, bson::Value spec, ExpressionPtr root)
      : Stage(op, spec), root_(std::move(root)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<ReplaceRootOperator>(std::move(input), *root_, context);
  }
  Reads AddReads(const QueryContext&, Dependencies* reads) const override {
    root_->AddDependencies(*reads);
    return Reads::kOnly;
  }

 private:
  ExpressionPtr root_;
};

absl::Status ParseReplaceRoot(const StageOp& op, bson::Value spec, const QueryContext& context,
                              StageList* out) {
  bson::Value new_root = spec;
  if (op.name == "$replaceRoot") {
    if (!spec.Is(bson::Type::kObject)) {
      return Error(Location(40229),
                   "expected an object as specification for $replaceRoot stage, "
                   "got {}",
                   expr::TypeName(spec.type()));
    }
    for (const bson::Element& field : spec.AsDocument()) {
      if (field.key != "newRoot") {
        return Error(Location(40415), "BSON field '$replaceRoot.{}' is an unknown field.",
                     field.key);
      }
    }
    new_root = spec.AsDocument()["newRoot"];
    if (new_root.missing()) {
      return Error(Location(40414),
                   "BSON field '$replaceRoot.newRoot' is missing but a required field");
    }
  }
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr root, Expression::Parse(new_root, context));
  return AddStage<ReplaceRootStage>(out, op, spec, std::move(root));
}

constexpr StageOp kRows[] = {
    {.name = "$replaceRoot",
     .parse = ParseReplaceRoot,
     .spec = "operator/aggregation/replaceRoot",
     .tests = "stages/replaceRoot"},
    {.name = "$replaceWith",
     .parse = ParseReplaceRoot,
     .spec = "operator/aggregation/replaceWith",
     .tests = "stages/replaceWith"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> ReplaceRootStages() { return kRows; }

}  // namespace evenkeel::query::stage
