// The update operator $bit.
#include <memory>

#include "base/bson/json.h"
#include "query/match/type_names.h"
#include "query/update/table.h"

namespace evenkeel::query::update {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;

enum class BitOperation : uint8_t { kAnd, kOr, kXor };

struct BitStep {
  BitOperation operation;
  int64_t operand;
};

class BitModifier final : public Modifier {
 public:
  BitModifier(std::string path, std::vector<BitStep> steps, bool wide)
      : Modifier(std::move(path)), steps_(std::move(steps)), wide_(wide) {}

  absl::StatusOr<Value> Apply(Value old, ApplyContext& context) const override {
    if (!old.missing() && !old.Is(Type::kInt32) && !old.Is(Type::kInt64)) {
      return Bad(
          "Cannot apply $bit to a value of non-integral type. {{_id: {}}} has the field '{}' of "
          "non-integer type {}",
          bson::ToDisplay(context.document["_id"]), path(), TypeAlias(old.type()));
    }
    const bool wide = wide_ || old.Is(Type::kInt64);
    int64_t bits = 0;
    if (!old.missing()) bits = old.Is(Type::kInt64) ? old.AsInt64() : old.AsInt32();
    for (const BitStep& step : steps_) {
      switch (step.operation) {
        case BitOperation::kAnd:
          bits &= step.operand;
          break;
        case BitOperation::kOr:
          bits |= step.operand;
          break;
        case BitOperation::kXor:
          bits ^= step.operand;
          break;
      }
    }
    return wide ? context.arena.Int64(bits) : context.arena.Int32(static_cast<int32_t>(bits));
  }
  bool Creates() const override { return true; }

 private:
  std::vector<BitStep> steps_;
  bool wide_;  // some operand has 64 bits
};

absl::Status ParseBit(Parse& parse, const Element& field) {
  if (!field.value.Is(Type::kObject)) {
    return Bad(
        "The $bit modifier is not compatible with a {}. You must pass in an embedded document: "
        "{{$bit: {{field: {{and/or/xor: #}}}}}}",
        TypeAlias(field.value.type()));
  }
  std::vector<BitStep> steps;
  bool wide = false;
  for (const Element& step : field.value.AsDocument()) {
    BitOperation operation = BitOperation::kAnd;
    if (step.key == "or") {
      operation = BitOperation::kOr;
    } else if (step.key == "xor") {
      operation = BitOperation::kXor;
    } else if (step.key != "and") {
      return Bad("The $bit modifier only supports 'and', 'or', and 'xor', not '{}'", step.key);
    }
    if (!step.value.Is(Type::kInt32) && !step.value.Is(Type::kInt64)) {
      return Bad(
          "The $bit modifier field must be an Integer(32/64 bit); a '{}' is not supported here: {}",
          TypeAlias(step.value.type()), bson::ToDisplay(step.value));
    }
    wide |= step.value.Is(Type::kInt64);
    steps.push_back(
        {operation, step.value.Is(Type::kInt64) ? step.value.AsInt64() : step.value.AsInt32()});
  }
  if (steps.empty()) {
    return Bad(
        "You must pass in at least one bitwise operation. The format is: "
        "{{$bit: {{field: {{and/or/xor: #}}}}}}");
  }
  return AddModifier<BitModifier>(parse, field.key, std::move(steps), wide);
}

constexpr UpdateOp kBitOps[] = {
    {.name = "$bit",
     .parse = ParseBit,
     .spec = "operator/update/bit",
     .tests = "update/bitwise/bit"},
};
static_assert(RowsAreInOrder(kBitOps));

}  // namespace

std::span<const UpdateOp> BitOps() { return kBitOps; }

}  // namespace evenkeel::query::update
