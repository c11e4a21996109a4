// $densify.
#include "query/exec/densify.h"
#include "base/bson/compare.h"
#include "base/bson/number.h"
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

class DensifyStage final : public Stage {
 public:
  DensifyStage(const StageOp& op, bson::Value spec, DensifySpec parsed)
      : Stage(op, spec), parsed_(std::move(parsed)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<DensifyOperator>(std::move(input), parsed_, context);
  }

 private:
  DensifySpec parsed_;
};

// Objects whose fields are named and typed; a missing type takes any.
struct FieldRule {
  std::string_view name;
  Type type;
  bool required;
};

absl::Status CheckFields(std::string_view where, bson::View spec,
                         std::span<const FieldRule> rules) {
  for (const bson::Element& field : spec) {
    const FieldRule* found = nullptr;
    for (const FieldRule& rule : rules) {
      if (rule.name == field.key) found = &rule;
    }
    if (found == nullptr) {
      return Error(Location(40415), "BSON field '{}.{}' is an unknown field.", where, field.key);
    }
    if (found->type != Type::kEod && !field.value.Is(found->type)) {
      return Error(ErrorCode::kTypeMismatch,
                   "BSON field '{}.{}' is the wrong type '{}', expected type '{}'", where,
                   field.key, expr::TypeName(field.value.type()), expr::TypeName(found->type));
    }
  }
  for (const FieldRule& rule : rules) {
    if (!rule.required || spec.Contains(rule.name)) continue;
    return Error(Location(40414), "BSON field '{}.{}' is missing but a required field", where,
                 rule.name);
  }
  return absl::OkStatus();
}

absl::Status ReadStep(bson::View range, DensifySpec* parsed) {
  const bson::Value step = range["step"], unit = range["unit"];
  if (!step.IsNumber() || bson::ToDouble(step) <= 0) {
    return Error(Location(5733401), "The step of $densify must be a number greater than 0");
  }
  parsed->step = bson::OwnedValue(step);
  if (unit.missing()) return absl::OkStatus();
  parsed->unit = window::FindUnit(unit.AsString());
  if (!parsed->unit) {
    return Error(ErrorCode::kFailedToParse, "unknown time unit value: {}", unit.AsString());
  }
  if (!bson::ToInt64Exact(step)) {
    return Error(Location(6586400), "The step of $densify with a unit must be a whole number");
  }
  return absl::OkStatus();
}

absl::Status ReadExplicit(bson::View bounds, DensifySpec* parsed) {
  if (bounds.CountFields() != 2) {
    return Error(Location(5733403), "a bounding array in a range of $densify must have 2 elements");
  }
  const bson::Value low = bounds["0"], high = bounds["1"];
  const bool numbers = low.IsNumber() && high.IsNumber();
  const bool dates = low.Is(Type::kDate) && high.Is(Type::kDate);
  if (!numbers && !dates) {
    return Error(Location(5733402), "the bounds of $densify must be two numbers or two dates");
  }
  if (dates != parsed->unit.has_value()) {
    return Error(Location(dates ? 5733501 : 5733408),
                 "the bounds of $densify must be dates exactly when there is a unit");
  }
  if (bson::Compare(low, high) > 0) {
    return Error(Location(5733402), "the bounds of $densify must be in ascending order");
  }
  parsed->extent = DensifySpec::Extent::kExplicit;
  parsed->low = bson::OwnedValue(low);
  parsed->high = bson::OwnedValue(high);
  return absl::OkStatus();
}

absl::Status ReadRange(bson::View range, DensifySpec* parsed) {
  constexpr FieldRule kRules[] = {
      {"step", Type::kEod, true}, {"unit", Type::kString, false}, {"bounds", Type::kEod, true}};
  EVENKEEL_RETURN_IF_ERROR(CheckFields("$densify.range", range, kRules));
  EVENKEEL_RETURN_IF_ERROR(ReadStep(range, parsed));
  const bson::Value bounds = range["bounds"];
  if (bounds.Is(Type::kArray)) return ReadExplicit(bounds.AsDocument(), parsed);
  if (bounds.Is(Type::kString) && bounds.AsString() == "full") return absl::OkStatus();
  if (bounds.Is(Type::kString) && bounds.AsString() == "partition") {
    if (parsed->partition_by.empty()) {
      return Error(Location(5733408), "bounds 'partition' of $densify need partitionByFields");
    }
    parsed->extent = DensifySpec::Extent::kPartition;
    return absl::OkStatus();
  }
  return Error(Location(bounds.Is(Type::kString) ? 5946802 : 5733402),
               "bounds of $densify must be 'full', 'partition' or an array of two values");
}

absl::Status ParseDensify(const StageOp& op, bson::Value spec, const QueryContext&,
                          StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(Location(5733400), "The $densify stage specification must be an object, found {}",
                 expr::TypeName(spec.type()));
  }
  constexpr FieldRule kRules[] = {{"field", Type::kString, true},
                                  {"partitionByFields", Type::kArray, false},
                                  {"range", Type::kObject, true}};
  const bson::View fields = spec.AsDocument();
  EVENKEEL_RETURN_IF_ERROR(CheckFields("$densify", fields, kRules));
  DensifySpec parsed;
  const std::string_view field = fields["field"].AsString();
  EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(field));
  parsed.field = bson::Path(field);
  if (const bson::Value by = fields["partitionByFields"]; !by.missing()) {
    for (const bson::Element& element : by.AsDocument()) {
      if (!element.value.Is(Type::kString)) {
        return Error(ErrorCode::kTypeMismatch, "partitionByFields of $densify must hold strings");
      }
      EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(element.value.AsString()));
      if (element.value.AsString() == field) {
        return Error(Location(8993000), "the field of $densify cannot be one of partitionByFields");
      }
      parsed.partition_by.emplace_back(element.value.AsString());
    }
  }
  EVENKEEL_RETURN_IF_ERROR(ReadRange(fields["range"].AsDocument(), &parsed));
  return AddStage<DensifyStage>(out, op, spec, std::move(parsed));
}

constexpr StageOp kRows[] = {
    {.name = "$densify",
     .order = Order::kSorts,
     .bounded_memory = false,
     .split = Split::kMerger,
     .parse = ParseDensify,
     .spec = "operator/aggregation/densify",
     .tests = "stages/densify"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> DensifyStages() { return kRows; }

}  // namespace evenkeel::query::stage
