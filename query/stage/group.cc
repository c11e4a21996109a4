// $group, and the two halves that it is divided into.
#include "query/exec/group.h"
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/output_fields.h"

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
  Reads AddReads(const QueryContext&, Dependencies* reads) const override {
    if (part_ == GroupPart::kMerge) return Reads::kAll;
    group_.id->AddDependencies(*reads);
    for (const accum::OutputField& field : group_.fields) {
      field.accumulator.input->AddDependencies(*reads);
    }
    return Reads::kOnly;
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
      EVENKEEL_ASSIGN_OR_RETURN(accum::OutputField parsed, ParseOutputField(field, scope));
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
