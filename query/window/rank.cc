// $denseRank, $documentNumber, $rank, $shift: positions in the partition.
#include "base/bson/compare.h"
#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/window/function.h"

namespace evenkeel::query::window {
namespace {

using bson::Type;

enum class Numbering : uint8_t { kDense, kDocument, kRank };

bson::OwnedValue Count(size_t number) {
  EvalArena arena;
  return bson::OwnedValue(arena.Count(number));
}

template <Numbering kNumbering>
class RankFunction final : public WindowFunction {
 public:
  absl::StatusOr<std::vector<bson::OwnedValue>> Compute(const Partition& partition) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::OwnedValue> sorted, partition.SortedValues());
    std::vector<bson::OwnedValue> out;
    size_t dense = 0, rank = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
      const bool equal = i > 0 && bson::Compare(OrNull(sorted[i - 1]), OrNull(sorted[i]),
                                                partition.evaluation.collation()) == 0;
      if (!equal) {
        ++dense;
        rank = i + 1;
      }
      out.push_back(Count(kNumbering == Numbering::kDense      ? dense
                          : kNumbering == Numbering::kDocument ? i + 1
                                                               : rank));
    }
    return out;
  }

 private:
  static bson::Value OrNull(bson::Value value) { return value.missing() ? NullValue() : value; }
};

template <Numbering kNumbering>
absl::StatusOr<FunctionPtr> ParseRank(const FunctionCall& call) {
  if (!call.args.Is(Type::kObject) || !call.args.AsDocument().empty()) {
    return Error(Location(5371603), "{} must be specified with '{{}}' as the value", call.name);
  }
  EVENKEEL_RETURN_IF_ERROR(RequireOneSortField(call, Location(5371602)));
  return std::make_unique<RankFunction<kNumbering>>();
}

// The value of the row so many rows away.
class ShiftFunction final : public WindowFunction {
 public:
  ShiftFunction(ExpressionPtr output, int64_t by, bson::OwnedValue other)
      : output_(std::move(output)), by_(by), other_(std::move(other)) {}

  absl::StatusOr<std::vector<bson::OwnedValue>> Compute(const Partition& partition) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::OwnedValue> values,
                              partition.Evaluate(*output_));
    std::vector<bson::OwnedValue> out;
    const auto count = static_cast<int64_t>(values.size());
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = 0;
      const bool inside = !__builtin_add_overflow(i, by_, &at) && at >= 0 && at < count;
      bson::OwnedValue value = inside ? values[static_cast<size_t>(at)] : other_;
      if (value.value().missing()) value = bson::OwnedValue(NullValue());
      out.push_back(std::move(value));
    }
    return out;
  }

 private:
  ExpressionPtr output_;
  int64_t by_;
  bson::OwnedValue other_;  // past the ends
};

absl::StatusOr<FunctionPtr> ParseShift(const FunctionCall& call) {
  constexpr std::string_view kNames[] = {"output", "by", "default"};
  EVENKEEL_RETURN_IF_ERROR(RefuseWindow(call));
  EVENKEEL_RETURN_IF_ERROR(CheckArguments(call, kNames));
  const bson::View args = call.args.AsDocument();
  const bson::Value output = args["output"], by = args["by"], other = args["default"];
  if (output.missing() || by.missing()) {
    return Error(ErrorCode::kFailedToParse, "$shift requires 'output' and 'by'");
  }
  const std::optional<int32_t> steps = by.IsNumber() ? expr::Int32Of(by) : std::nullopt;
  if (!steps) {
    return Error(ErrorCode::kFailedToParse, "'$shift:by' field must be an integer, but found {}",
                 expr::TypeName(by.type()));
  }
  if (call.sort.empty()) {
    return Error(ErrorCode::kFailedToParse, "'$shift' requires a sortBy");
  }
  bson::OwnedValue fallback(NullValue());
  if (!other.missing()) {
    EVENKEEL_ASSIGN_OR_RETURN(const ExpressionPtr parsed, Expression::Parse(other, call.scope));
    const std::optional<bson::Value> constant = parsed->Constant();
    if (!constant) {
      return Error(ErrorCode::kFailedToParse, "'$shift:default' must be a constant expression");
    }
    fallback = bson::OwnedValue(*constant);
  }
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr value, Expression::Parse(output, call.scope));
  return std::make_unique<ShiftFunction>(std::move(value), *steps, std::move(fallback));
}

constexpr WindowOp kRows[] = {
    {"$denseRank", ParseRank<Numbering::kDense>, "operator/aggregation/denseRank",
     "window/denseRank"},
    {"$documentNumber", ParseRank<Numbering::kDocument>, "operator/aggregation/documentNumber",
     "window/documentNumber"},
    {"$rank", ParseRank<Numbering::kRank>, "operator/aggregation/rank", "window/rank"},
    {"$shift", ParseShift, "operator/aggregation/shift", "window/shift"},
};

}  // namespace

std::span<const WindowOp> RankFunctions() { return kRows; }

}  // namespace evenkeel::query::window
