// $linearFill, $locf: values in place of those that are null or missing.
#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/window/arithmetic.h"
#include "query/window/function.h"

namespace evenkeel::query::window {
namespace {

// The last value that was there.
class LocfFunction final : public WindowFunction {
 public:
  explicit LocfFunction(ExpressionPtr input) : input_(std::move(input)) {}

  absl::StatusOr<std::vector<bson::OwnedValue>> Compute(const Partition& partition) const override {
    EVENKEEL_ASSIGN_OR_RETURN(std::vector<bson::OwnedValue> values, partition.Evaluate(*input_));
    bson::OwnedValue last(NullValue());
    for (bson::OwnedValue& value : values) {
      if (value.value().IsNullish()) {
        value = last;
      } else {
        last = value;
      }
    }
    return values;
  }

 private:
  ExpressionPtr input_;
};

// On the line between the neighbours that have values.
class LinearFillFunction final : public WindowFunction {
 public:
  explicit LinearFillFunction(ExpressionPtr input) : input_(std::move(input)) {}

  absl::StatusOr<std::vector<bson::OwnedValue>> Compute(const Partition& partition) const override {
    EVENKEEL_ASSIGN_OR_RETURN(std::vector<bson::OwnedValue> values, partition.Evaluate(*input_));
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::OwnedValue> sorted, partition.SortedValues());
    EVENKEEL_RETURN_IF_ERROR(Check(values, sorted));
    std::optional<size_t> left;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].value().IsNullish()) continue;
      if (left) Interpolate(*left, i, sorted, &values);
      left = i;
    }
    for (bson::OwnedValue& value : values) {
      if (value.value().IsNullish()) value = bson::OwnedValue(NullValue());
    }
    return values;
  }

 private:
  static absl::Status Check(const std::vector<bson::OwnedValue>& values,
                            const std::vector<bson::OwnedValue>& sorted) {
    for (size_t i = 0; i < values.size(); ++i) {
      const bson::Value value = values[i].value(), at = sorted[i].value();
      if (!value.IsNullish() && !value.IsNumber()) {
        return Error(ErrorCode::kTypeMismatch,
                     "Value to be filled must be numeric or nullish, not {}",
                     expr::TypeName(value.type()));
      }
      if (!at.IsNumber() && !at.Is(bson::Type::kDate)) {
        return Error(ErrorCode::kTypeMismatch, "$linearFill sorts by numbers or dates, not {}",
                     expr::TypeName(at.type()));
      }
      if (i == 0) continue;
      const bson::Value before = sorted[i - 1].value();
      if (before.IsNumber() != at.IsNumber()) {
        return Error(ErrorCode::kTypeMismatch, "$linearFill sorts by numbers or dates, not both");
      }
      if (bson::Compare(before, at) == 0) {
        return Error(Location(6050106),
                     "There can be no repeated values in the sort field of "
                     "$linearFill");
      }
    }
    return absl::OkStatus();
  }
  static void Interpolate(size_t left, size_t right, const std::vector<bson::OwnedValue>& sorted,
                          std::vector<bson::OwnedValue>* values) {
    const bson::Number y1 = bson::Number::From((*values)[left]);
    const bson::Number rise = bson::Subtract(bson::Number::From((*values)[right]), y1);
    const bson::Number run = Distance(sorted[left], sorted[right]);
    for (size_t i = left + 1; i < right; ++i) {
      const bson::Number part =
          bson::Multiply(Distance(sorted[left], sorted[i]), Divide(rise, run));
      (*values)[i] = bson::Add(y1, part).ToValue();
    }
  }

  ExpressionPtr input_;
};

absl::StatusOr<FunctionPtr> ParseLocf(const FunctionCall& call) {
  EVENKEEL_RETURN_IF_ERROR(RefuseWindow(call));
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr input, Expression::Parse(call.args, call.scope));
  return std::make_unique<LocfFunction>(std::move(input));
}

absl::StatusOr<FunctionPtr> ParseLinearFill(const FunctionCall& call) {
  EVENKEEL_RETURN_IF_ERROR(RefuseWindow(call));
  EVENKEEL_RETURN_IF_ERROR(RequireOneSortField(call, Location(605001)));
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr input, Expression::Parse(call.args, call.scope));
  return std::make_unique<LinearFillFunction>(std::move(input));
}

constexpr WindowOp kRows[] = {
    {"$linearFill", ParseLinearFill, "operator/aggregation/linearFill", "window/linearFill"},
    {"$locf", ParseLocf, "operator/aggregation/locf", "window/locf"},
};

}  // namespace

std::span<const WindowOp> FillFunctions() { return kRows; }

}  // namespace evenkeel::query::window
