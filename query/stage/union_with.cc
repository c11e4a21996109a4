// $unionWith.
#include "query/exec/union_with.h"
#include "query/expr/kernel.h"
#include "query/stage/colocation.h"
#include "query/stage/groups.h"
#include "query/stage/sub_pipeline.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

class UnionStage final : public Stage {
 public:
  UnionStage(const StageOp& op, bson::Value spec, UnionSpec parsed)
      : Stage(op, spec), parsed_(std::move(parsed)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<UnionOperator>(std::move(input), parsed_, context);
  }
  std::string_view ForeignNamespace() const override { return parsed_.ns; }
  bool JoinOnShards(const Colocation& colocation) override {
    on_shards_ = colocation.Whole(parsed_.ns) && ReadsOnlyItsInput(parsed_.pipeline);
    return on_shards_;
  }
  bool NeedsRouter() const override { return !on_shards_; }

 private:
  UnionSpec parsed_;
  bool on_shards_ = false;
};

absl::Status WrongType(std::string_view field, bson::Value value, std::string_view wanted) {
  return Error(ErrorCode::kTypeMismatch,
               "BSON field '$unionWith.{}' is the wrong type '{}', expected type '{}'", field,
               expr::TypeName(value.type()), wanted);
}

absl::Status ReadObject(bson::View spec, const QueryContext& context, UnionSpec* parsed) {
  for (const auto& [key, value] : spec) {
    if (key == "coll") {
      if (!value.Is(Type::kString)) return WrongType(key, value, "string");
      parsed->ns = SiblingNamespace(context, value.AsString());
    } else if (key == "pipeline") {
      if (!value.Is(Type::kArray)) return WrongType(key, value, "array");
      parsed->pipeline = bson::Document(value.AsDocument());
    } else {
      return Error(Location(40415), "BSON field '$unionWith.{}' is an unknown field.", key);
    }
  }
  EVENKEEL_RETURN_IF_ERROR(CheckSubPipeline(parsed->pipeline, {}, Location(31441), context));
  if (!parsed->ns.empty()) return absl::OkStatus();
  const bson::Element first = parsed->pipeline.view().Front();
  if (!first.value.Is(Type::kObject) || first.value.AsDocument().Front().key != "$documents") {
    return Error(ErrorCode::kFailedToParse,
                 "$unionWith stage without explicit collection must have a pipeline with "
                 "$documents as first stage");
  }
  parsed->ns = SiblingNamespace(context, "$cmd.aggregate");
  return absl::OkStatus();
}

absl::Status ParseUnionWith(const StageOp& op, bson::Value spec, const QueryContext& context,
                            StageList* out) {
  UnionSpec parsed;
  if (spec.Is(Type::kString)) {
    parsed.ns = SiblingNamespace(context, spec.AsString());
  } else if (spec.Is(Type::kObject)) {
    EVENKEEL_RETURN_IF_ERROR(ReadObject(spec.AsDocument(), context, &parsed));
  } else {
    return Error(ErrorCode::kFailedToParse,
                 "the $unionWith stage specification must be an object or string, but found {}",
                 expr::TypeName(spec.type()));
  }
  return AddStage<UnionStage>(out, op, spec, std::move(parsed));
}

constexpr StageOp kRows[] = {
    {.name = "$unionWith",
     .where = Where::kRouter,
     .order = Order::kBreaks,
     .parse = ParseUnionWith,
     .spec = "operator/aggregation/unionWith",
     .tests = "stages/unionWith"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> UnionWithStages() { return kRows; }

}  // namespace evenkeel::query::stage
