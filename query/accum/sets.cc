// $addToSet, $setUnion: each value once, in the order of first occurrence.
#include <memory>
#include <optional>
#include <vector>

#include "query/accum/groups.h"
#include "query/expr/kernel.h"
#include "query/expr/value_hash.h"

namespace evenkeel::query::accum {
namespace {

struct AddToSetState {
  std::vector<bson::OwnedValue> values;
  std::optional<expr::ValueSet>
      seen;  // made with the first value: only then the collation is known

  absl::Status Add(bson::Value value, AccumContext& context) {
    if (value.missing()) return absl::OkStatus();
    if (!seen) seen.emplace(expr::MakeValueSet(context.collation));
    if (seen->contains(value)) return absl::OkStatus();
    // Short values lie inside OwnedValue, so growing the list would move them: the set is made
    // again then.
    const bool moves = values.size() == values.capacity();
    values.emplace_back(value);
    context.memory_bytes += 2 * sizeof(bson::OwnedValue) + value.SizeBytes();
    if (!moves) {
      seen->insert(values.back().value());
      return absl::OkStatus();
    }
    seen->clear();
    for (const bson::OwnedValue& kept : values) seen->insert(kept.value());
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) {
    for (const bson::Element& element : partial.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(Add(element.value, context));
    }
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const { Finish(builder, key); }
  void Finish(bson::Builder& builder, std::string_view key) const {
    builder.OpenArray(key);
    bson::ArrayAppender array(builder);
    for (const bson::OwnedValue& value : values) array.Add(value);
    builder.Close();
  }
};

struct SetUnionState : AddToSetState {
  absl::Status Add(bson::Value value, AccumContext& context) {
    if (value.missing()) return absl::OkStatus();
    if (!value.Is(bson::Type::kArray)) {
      return Error(ErrorCode::kTypeMismatch, "$setUnion requires array inputs, but input is {}",
                   expr::TypeName(value.type()));
    }
    return AddToSetState::Merge(value, context);
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) {
    return AddToSetState::Merge(partial, context);
  }
};

constexpr AccumOp kRows[] = {
    Row<AddToSetState>({.name = "$addToSet",
                        .parse = ParseUnary,
                        .spec = "operator/aggregation/addToSet",
                        .tests = "accumulators/addToSet"}),
    Row<SetUnionState>({.name = "$setUnion",
                        .parse = ParseUnary,
                        .spec = "operator/aggregation/setUnion",
                        .tests = "accumulators/setUnion"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> SetOps() { return kRows; }

}  // namespace evenkeel::query::accum
