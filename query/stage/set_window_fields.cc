// $setWindowFields.
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/sort_spec.h"
#include "query/window/operator.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

class SetWindowFieldsStage final : public Stage {
 public:
  SetWindowFieldsStage(const StageOp& op, bson::Value spec, window::WindowSpec parsed)
      : Stage(op, spec), parsed_(std::move(parsed)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<window::WindowOperator>(std::move(input), parsed_, context);
  }

 private:
  window::WindowSpec parsed_;
};

absl::Status WrongType(std::string_view field, bson::Value value) {
  return Error(ErrorCode::kTypeMismatch,
               "BSON field '$setWindowFields.{}' is the wrong type '{}', expected type 'object'",
               field, expr::TypeName(value.type()));
}

absl::Status CheckFields(bson::View spec) {
  for (const bson::Element& field : spec) {
    if (field.key == "partitionBy" || (field.key == "sortBy" && field.value.IsNullish())) continue;
    if (field.key != "sortBy" && field.key != "output") {
      return Error(Location(40415), "BSON field '$setWindowFields.{}' is an unknown field.",
                   field.key);
    }
    if (!field.value.Is(Type::kObject)) return WrongType(field.key, field.value);
  }
  if (spec.Contains("output")) return absl::OkStatus();
  return Error(Location(40414),
               "BSON field '$setWindowFields.output' is missing but a required field");
}

absl::Status ParseSetWindowFields(const StageOp& op, bson::Value spec, const QueryContext& context,
                                  StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(ErrorCode::kFailedToParse,
                 "the $setWindowFields stage specification must be an object, found {}",
                 expr::TypeName(spec.type()));
  }
  const bson::View fields = spec.AsDocument();
  EVENKEEL_RETURN_IF_ERROR(CheckFields(fields));
  ParseScope scope(context);
  window::WindowSpec parsed;
  if (const bson::Value by = fields["partitionBy"]; !by.IsNullish()) {
    EVENKEEL_ASSIGN_OR_RETURN(parsed.partition_by, Expression::Parse(by, scope));
  }
  if (const bson::Value by = fields["sortBy"]; !by.IsNullish()) {
    EVENKEEL_ASSIGN_OR_RETURN(parsed.sort, ParseSortSpec(by.AsDocument()));
  }
  for (const auto& [path, function] : fields["output"].AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(path));
    window::WindowSpec::Output output{.path = bson::Path(path)};
    EVENKEEL_ASSIGN_OR_RETURN(output.function, window::ParseFunction(function, parsed.sort, scope));
    parsed.outputs.push_back(std::move(output));
  }
  return AddStage<SetWindowFieldsStage>(out, op, spec, std::move(parsed));
}

constexpr StageOp kRows[] = {
    {.name = "$setWindowFields",
     .order = Order::kSorts,
     .bounded_memory = false,
     .split = Split::kMerger,
     .parse = ParseSetWindowFields,
     .spec = "operator/aggregation/setWindowFields",
     .tests = "window"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> SetWindowFieldsStages() { return kRows; }

}  // namespace evenkeel::query::stage
