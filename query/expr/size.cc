// $binarySize, $bsonSize.
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

absl::StatusOr<bson::Value> EvalBinarySize(const Call& call) {
  const bson::Value value = call.args[0];
  if (value.Is(bson::Type::kString)) return call.arena().Count(value.AsString().size());
  if (value.Is(bson::Type::kBinary)) return call.arena().Count(value.AsBinary().bytes.size());
  return WrongType(call, Location(51276), "requires a string or BinData argument", value);
}

absl::StatusOr<bson::Value> EvalBsonSize(const Call& call) {
  const bson::Value value = call.args[0];
  if (value.Is(bson::Type::kObject)) return call.arena().Count(value.SizeBytes());
  return WrongType(call, Location(31393), "requires a document input", value);
}

constexpr ExprOp kRows[] = {
    {.name = "$binarySize",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalBinarySize,
     .spec = "operator/aggregation/binarySize",
     .tests = "expressions/misc/binarySize"},
    {.name = "$bsonSize",
     .arity = Arity::Exactly(1),
     .nulls = Nulls::kPropagate,
     .parse = ParseArguments,
     .eval = EvalBsonSize,
     .spec = "operator/aggregation/bsonSize",
     .tests = "expressions/misc/bsonSize"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> SizeOps() { return kRows; }

}  // namespace evenkeel::query::expr
