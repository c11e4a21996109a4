// $group, and the two halves that it is divided into.
#include "query/exec/group.h"
#include "query/accum/table.h"
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

constexpr std::string_view kPartialName = "$_partialGroup";
constexpr std::string_view kMergeName = "$_mergeGroup";

class GroupStage final : public Stage {
 public:
  GroupStage(const StageOp& op, bson::Value spec, GroupSpec group, GroupPart part)
      : Stage(op, spec), group_(std::move(group)), part_(part) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<GroupOperator>(std::move(input), group_, part_, context);
  }
  void Divide(std::optional<int64_t>, Halves* halves) const override {
    halves->shard->Add(kPartialName, spec());
    halves->merge->Add(kMergeName, spec());
  }

 private:
  GroupSpec group_;
  GroupPart part_;
};

absl::StatusOr<ExpressionPtr> ParseId(bson::Value id, ParseScope& scope) {
  if (id.Is(bson::Type::kObject) && !id.AsDocument().Front().key.starts_with('$')) {
    for (const auto& [key, value] : id.AsDocument()) {
      if (value.IsNumber() || value.Is(bson::Type::kBool)) {
        return Error(Location(17390), "$group does not support inclusion-style expressions");
      }
    }
  }
  return Expression::Parse(id, scope);
}

absl::StatusOr<GroupSpec::Field> ParseField(const bson::Element& field, ParseScope& scope) {
  if (field.key.find('.') != std::string_view::npos) {
    return Error(Location(40235), "The field name '{}' cannot contain '.'", field.key);
  }
  if (field.key.starts_with('$')) {
    return Error(Location(40236), "The field name '{}' cannot be an operator name", field.key);
  }
  if (!field.value.Is(bson::Type::kObject) || field.value.AsDocument().empty()) {
    return Error(Location(40234), "The field '{}' must be an accumulator object", field.key);
  }
  const bson::View accumulator = field.value.AsDocument();
  if (accumulator.CountFields() != 1) {
    return Error(Location(40238), "The field '{}' must specify one accumulator", field.key);
  }
  const bson::Element op = accumulator.Front();
  if (!op.key.starts_with('$')) {
    return Error(Location(40234), "The field '{}' must be an accumulator object", field.key);
  }
  GroupSpec::Field parsed{std::string(field.key), {}};
  EVENKEEL_ASSIGN_OR_RETURN(parsed.accumulator,
                            accum::ParseGroupAccumulator(op.key, op.value, scope));
  return parsed;
}

absl::Status ParseGroup(const StageOp& op, bson::Value spec, const QueryContext& context,
                        StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(Location(15947), "a group's fields must be specified in an object");
  }
  ParseScope scope(context);
  GroupSpec group;
  for (const bson::Element& field : spec.AsDocument()) {
    if (field.key == "_id") {
      if (group.id != nullptr) {
        return Error(Location(15948), "a group's _id may only be specified once");
      }
      EVENKEEL_ASSIGN_OR_RETURN(group.id, ParseId(field.value, scope));
    } else {
      EVENKEEL_ASSIGN_OR_RETURN(GroupSpec::Field parsed, ParseField(field, scope));
      group.fields.push_back(std::move(parsed));
    }
  }
  if (group.id == nullptr) {
    return Error(Location(15955), "a group specification must include an _id");
  }
  const GroupPart part = op.name == kPartialName ? GroupPart::kPartial
                         : op.name == kMergeName ? GroupPart::kMerge
                                                 : GroupPart::kWhole;
  return AddStage<GroupStage>(out, op, spec, std::move(group), part);
}

constexpr StageOp kRows[] = {
    {.name = kMergeName,
     .where = Where::kRouter,
     .order = Order::kBreaks,
     .bounded_memory = false,
     .internal = true,
     .split = Split::kMerger,
     .parse = ParseGroup,
     .spec = "operator/aggregation/group",
     .tests = "stages/group"},
    {.name = kPartialName,
     .where = Where::kShard,
     .order = Order::kBreaks,
     .bounded_memory = false,
     .internal = true,
     .parse = ParseGroup,
     .spec = "operator/aggregation/group",
     .tests = "stages/group"},
    {.name = "$group",
     .order = Order::kBreaks,
     .bounded_memory = false,
     .split = Split::kHalves,
     .parse = ParseGroup,
     .spec = "operator/aggregation/group",
     .tests = "stages/group"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> GroupStages() { return kRows; }

}  // namespace evenkeel::query::stage
