// Match operators on a field's presence and type: $exists $type.
#include <memory>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;

absl::StatusOr<Condition> ParseExists(Parser&, const FieldUse& use) {
  Condition exists = Condition::Of(std::make_unique<ExistsPredicate>());
  return bson::Truthy(use.operand) ? std::move(exists) : Condition::Not(std::move(exists));
}

absl::Status AddType(Value value, TypeSet* types) {
  if (value.Is(Type::kString)) {
    if (value.AsString() == "number") {
      types->AddNumbers();
      return absl::OkStatus();
    }
    const std::optional<Type> type = TypeFromAlias(value.AsString());
    if (!type) return Bad("Unknown type name alias: {}", value.AsString());
    types->Add(*type);
    return absl::OkStatus();
  }
  if (!value.IsNumber()) {
    return Error(ErrorCode::kTypeMismatch, "type must be represented as a number or a string");
  }
  const std::optional<int64_t> number = bson::ToInt64Exact(value);
  const std::optional<Type> type = number ? TypeFromNumber(*number) : std::nullopt;
  if (!type) return Bad("Invalid numerical type code: {}", bson::ToDisplay(value));
  types->Add(*type);
  return absl::OkStatus();
}

absl::StatusOr<Condition> ParseType(Parser&, const FieldUse& use) {
  TypeSet types;
  if (use.operand.Is(Type::kArray)) {
    for (const Element& element : use.operand.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(AddType(element.value, &types));
    }
    if (types.empty()) {
      return Error(ErrorCode::kFailedToParse, "{} must match at least one type", use.name);
    }
  } else {
    EVENKEEL_RETURN_IF_ERROR(AddType(use.operand, &types));
  }
  return Condition::Of(std::make_unique<TypePredicate>(types));
}

constexpr MatchOp kElementOps[] = {
    {.name = "$exists",
     .place = Place::kField,
     .parse_field = ParseExists,
     .spec = "operator/query/exists",
     .tests = "query/misc/exists"},
    {.name = "$type",
     .place = Place::kField,
     .parse_field = ParseType,
     .spec = "operator/query/type",
     .tests = "query/misc/type"},
};
static_assert(RowsAreInOrder(kElementOps));

}  // namespace

std::span<const MatchOp> ElementOps() { return kElementOps; }

}  // namespace evenkeel::query::match
