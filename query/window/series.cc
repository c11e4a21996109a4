// $derivative, $expMovingAvg, $integral, $minMaxScaler: functions of a series of numbers.
#include <algorithm>
#include <cmath>

#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/window/arithmetic.h"
#include "query/window/function.h"

namespace evenkeel::query::window {
namespace {

using bson::Number;
using bson::Type;
using Values = std::vector<bson::OwnedValue>;

bson::OwnedValue Null() { return bson::OwnedValue(NullValue()); }
bool IsZero(const Number& number) { return bson::ToDouble(number.ToValue()) == 0; }

// What $derivative and $integral share: an input over the sorted value, per unit of time.
struct Slope {
  ExpressionPtr input;
  Bounds bounds;
  std::optional<int64_t> unit_ms;

  // The distance of two sorted values in units. Errors: 5624900 to 5624902 for unfit values.
  absl::StatusOr<Number> Run(bson::Value from, bson::Value to) const {
    for (const bson::Value at : {from, to}) {
      if (unit_ms && !at.Is(Type::kDate)) {
        return Error(Location(5624900), "a 'unit' needs dates to sort by, found {}",
                     expr::TypeName(at.type()));
      }
      if (!unit_ms && !at.IsNumber()) {
        return Error(Location(5624901), "without a 'unit' numbers are needed to sort by, found {}",
                     expr::TypeName(at.type()));
      }
    }
    const Number distance = Distance(from, to);
    return unit_ms ? Divide(distance, Number::Int64(*unit_ms)) : distance;
  }
};

class DerivativeFunction final : public WindowFunction {
 public:
  explicit DerivativeFunction(Slope slope) : slope_(std::move(slope)) {}

  absl::StatusOr<Values> Compute(const Partition& partition) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const Values inputs, partition.Evaluate(*slope_.input));
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<Frame> frames, FramesOf(slope_.bounds, partition));
    EVENKEEL_ASSIGN_OR_RETURN(const Values sorted, partition.SortedValues());
    Values out;
    for (const Frame& frame : frames) {
      if (frame.end - frame.begin < 2) {
        out.push_back(Null());
        continue;
      }
      const size_t first = frame.begin, last = frame.end - 1;
      EVENKEEL_ASSIGN_OR_RETURN(const Number run, slope_.Run(sorted[first], sorted[last]));
      const bson::Value from = inputs[first], to = inputs[last];
      if (from.IsNullish() || to.IsNullish() || IsZero(run)) {
        out.push_back(Null());
        continue;
      }
      if (!from.IsNumber() || !to.IsNumber()) {
        return Error(Location(5624903), "$derivative needs numbers, found {}",
                     expr::TypeName((from.IsNumber() ? to : from).type()));
      }
      out.push_back(Divide(bson::Subtract(Number::From(to), Number::From(from)), run).ToValue());
    }
    return out;
  }

 private:
  Slope slope_;
};

// The area under straight lines between the values.
class IntegralFunction final : public WindowFunction {
 public:
  explicit IntegralFunction(Slope slope) : slope_(std::move(slope)) {}

  absl::StatusOr<Values> Compute(const Partition& partition) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const Values inputs, partition.Evaluate(*slope_.input));
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<Frame> frames, FramesOf(slope_.bounds, partition));
    EVENKEEL_ASSIGN_OR_RETURN(const Values sorted, partition.SortedValues());
    Values out;
    Frame before;
    Number area = Number::Double(0);
    for (const Frame& frame : frames) {
      // A frame that only grows keeps its area.
      const bool grows = frame.begin == before.begin && frame.end >= before.end;
      size_t at = grows ? std::max(before.end, frame.begin + 1) : frame.begin + 1;
      if (!grows) area = Number::Double(0);
      for (; at < frame.end; ++at) {
        EVENKEEL_RETURN_IF_ERROR(AddStep(inputs, sorted, at, &area));
      }
      before = frame;
      out.push_back(frame.end == frame.begin ? Null() : area.ToValue());
    }
    return out;
  }

 private:
  absl::Status AddStep(const Values& inputs, const Values& sorted, size_t at, Number* area) const {
    const bson::Value from = inputs[at - 1], to = inputs[at];
    EVENKEEL_ASSIGN_OR_RETURN(const Number run, slope_.Run(sorted[at - 1], sorted[at]));
    if (!from.IsNumber() || !to.IsNumber()) return absl::OkStatus();
    const Number both = bson::Add(Number::From(from), Number::From(to));
    *area = bson::Add(*area, bson::Multiply(run, Divide(both, Number::Int32(2))));
    return absl::OkStatus();
  }
  Slope slope_;
};

absl::StatusOr<Slope> ParseSlope(const FunctionCall& call) {
  constexpr std::string_view kNames[] = {"input", "unit"};
  EVENKEEL_RETURN_IF_ERROR(CheckArguments(call, kNames));
  const bson::Value input = call.args.AsDocument()["input"];
  const bson::Value unit = call.args.AsDocument()["unit"];
  if (input.missing()) {
    return Error(ErrorCode::kFailedToParse, "{} requires an 'input' expression", call.name);
  }
  Slope slope;
  if (!unit.missing()) {
    const std::optional<Unit> known =
        unit.Is(Type::kString) ? FindUnit(unit.AsString()) : std::nullopt;
    if (!known)
      return Error(ErrorCode::kFailedToParse, "'unit' of {} is no unit of time", call.name);
    slope.unit_ms = FixedMilliseconds(*known);
    if (!slope.unit_ms) {
      return Error(Location(5490710), "unit must be 'week' or smaller in {}", call.name);
    }
  }
  EVENKEEL_RETURN_IF_ERROR(RequireOneSortField(call, ErrorCode::kFailedToParse));
  if (call.window.missing() && call.name == "$derivative") {
    return Error(ErrorCode::kFailedToParse, "$derivative requires explicit window bounds");
  }
  if (!call.window.missing()) {
    EVENKEEL_ASSIGN_OR_RETURN(slope.bounds, ParseBounds(call.window));
    EVENKEEL_RETURN_IF_ERROR(CheckSort(slope.bounds, call.sort));
  }
  EVENKEEL_ASSIGN_OR_RETURN(slope.input, Expression::Parse(input, call.scope));
  return slope;
}

absl::StatusOr<FunctionPtr> ParseDerivative(const FunctionCall& call) {
  EVENKEEL_ASSIGN_OR_RETURN(Slope slope, ParseSlope(call));
  return std::make_unique<DerivativeFunction>(std::move(slope));
}
absl::StatusOr<FunctionPtr> ParseIntegral(const FunctionCall& call) {
  EVENKEEL_ASSIGN_OR_RETURN(Slope slope, ParseSlope(call));
  return std::make_unique<IntegralFunction>(std::move(slope));
}

// alpha * value + (1 - alpha) * average so far; rows without a number repeat the average.
class ExpMovingAvgFunction final : public WindowFunction {
 public:
  ExpMovingAvgFunction(ExpressionPtr input, Number alpha)
      : input_(std::move(input)), alpha_(alpha) {}

  absl::StatusOr<Values> Compute(const Partition& partition) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const Values inputs, partition.Evaluate(*input_));
    const Number rest = bson::Subtract(Number::Int32(1), alpha_);
    std::optional<Number> average;
    Values out;
    for (const bson::Value value : inputs) {
      if (value.IsNumber()) {
        const Number now = Number::From(value);
        average = average ? bson::Add(bson::Multiply(now, alpha_), bson::Multiply(*average, rest))
                          : Divide(now, Number::Int32(1));
      }
      out.push_back(average ? average->ToValue() : Null());
    }
    return out;
  }

 private:
  ExpressionPtr input_;
  Number alpha_;
};

absl::StatusOr<Number> ParseAlpha(bson::Value n, bson::Value alpha) {
  if (n.missing() == alpha.missing()) {
    return Error(ErrorCode::kFailedToParse, "$expMovingAvg needs exactly one of 'N' and 'alpha'");
  }
  if (!alpha.missing()) {
    const bool good = alpha.IsNumber() && bson::ToDouble(alpha) > 0 && bson::ToDouble(alpha) < 1;
    if (!good) {
      return Error(ErrorCode::kFailedToParse, "'alpha' must be between 0 and 1 (exclusive)");
    }
    return Number::From(alpha);
  }
  const std::optional<int64_t> count = n.IsNumber() ? bson::ToInt64Exact(n) : std::nullopt;
  if (!count || *count <= 0) {
    return Error(ErrorCode::kFailedToParse, "'N' must be a positive integer");
  }
  return Number::Double(2.0 / (static_cast<double>(*count) + 1.0));
}

absl::StatusOr<FunctionPtr> ParseExpMovingAvg(const FunctionCall& call) {
  constexpr std::string_view kNames[] = {"input", "N", "alpha"};
  EVENKEEL_RETURN_IF_ERROR(RefuseWindow(call));
  EVENKEEL_RETURN_IF_ERROR(CheckArguments(call, kNames));
  const bson::View args = call.args.AsDocument();
  if (!args.Contains("input")) {
    return Error(ErrorCode::kFailedToParse, "$expMovingAvg requires an 'input' expression");
  }
  EVENKEEL_ASSIGN_OR_RETURN(const Number alpha, ParseAlpha(args["N"], args["alpha"]));
  if (call.sort.empty()) {
    return Error(ErrorCode::kFailedToParse, "$expMovingAvg requires an explicit 'sortBy'");
  }
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr input, Expression::Parse(args["input"], call.scope));
  return std::make_unique<ExpMovingAvgFunction>(std::move(input), alpha);
}

// Moves numbers from the frame's extremes to [min, max].
class MinMaxScalerFunction final : public WindowFunction {
 public:
  MinMaxScalerFunction(ExpressionPtr input, Bounds bounds, Number low, Number high)
      : input_(std::move(input)), bounds_(std::move(bounds)), low_(low), high_(high) {}

  absl::StatusOr<Values> Compute(const Partition& partition) const override {
    EVENKEEL_ASSIGN_OR_RETURN(const Values inputs, partition.Evaluate(*input_));
    EVENKEEL_ASSIGN_OR_RETURN(const std::vector<Frame> frames, FramesOf(bounds_, partition));
    for (const bson::Value value : inputs) {
      if (!value.IsNumber()) {
        return Error(Location(10487001), "$minMaxScaler needs numbers, found {}",
                     expr::TypeName(value.type()));
      }
    }
    Values out;
    Frame before;
    std::optional<bson::Value> least, most;
    for (size_t i = 0; i < frames.size(); ++i) {
      const Frame& frame = frames[i];
      const bool grows = i > 0 && frame.begin == before.begin && frame.end >= before.end;
      if (!grows) least = most = std::nullopt;
      for (size_t at = grows ? before.end : frame.begin; at < frame.end; ++at) {
        const bson::Value value = inputs[at];
        if (!least || bson::CompareNumbers(value, *least) < 0) least = value;
        if (!most || bson::CompareNumbers(value, *most) > 0) most = value;
      }
      before = frame;
      out.push_back(least ? Scale(inputs[i], *least, *most) : Null());
    }
    return out;
  }

 private:
  bson::OwnedValue Scale(bson::Value value, bson::Value least, bson::Value most) const {
    const Number range = bson::Subtract(Number::From(most), Number::From(least));
    if (IsZero(range)) return low_.ToValue();
    const Number share = Divide(bson::Subtract(Number::From(value), Number::From(least)), range);
    return bson::Add(bson::Multiply(share, bson::Subtract(high_, low_)), low_).ToValue();
  }

  ExpressionPtr input_;
  Bounds bounds_;
  Number low_, high_;
};

absl::StatusOr<Number> ParseEnd(const FunctionCall& call, std::string_view name,
                                int32_t otherwise) {
  const bson::Value given = call.args.AsDocument()[name];
  if (given.missing()) return Number::Int32(otherwise);
  EVENKEEL_ASSIGN_OR_RETURN(const ExpressionPtr parsed, Expression::Parse(given, call.scope));
  const std::optional<bson::Value> constant = parsed->Constant();
  if (constant && constant->IsNumber()) return Number::From(*constant);
  return Error(ErrorCode::kFailedToParse, "'{}' of $minMaxScaler must be a constant number", name);
}

absl::StatusOr<FunctionPtr> ParseMinMaxScaler(const FunctionCall& call) {
  constexpr std::string_view kNames[] = {"input", "min", "max"};
  EVENKEEL_RETURN_IF_ERROR(CheckArguments(call, kNames));
  const bson::Value input = call.args.AsDocument()["input"];
  if (input.missing()) {
    return Error(ErrorCode::kFailedToParse, "$minMaxScaler requires an 'input' expression");
  }
  EVENKEEL_ASSIGN_OR_RETURN(const Number low, ParseEnd(call, "min", 0));
  EVENKEEL_ASSIGN_OR_RETURN(const Number high, ParseEnd(call, "max", 1));
  if (bson::CompareNumbers(low.ToValue(), high.ToValue()) >= 0) {
    return Error(ErrorCode::kFailedToParse, "'min' of $minMaxScaler must be below 'max'");
  }
  Bounds bounds;
  if (!call.window.missing()) {
    EVENKEEL_ASSIGN_OR_RETURN(bounds, ParseBounds(call.window));
    EVENKEEL_RETURN_IF_ERROR(CheckSort(bounds, call.sort));
  }
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr value, Expression::Parse(input, call.scope));
  return std::make_unique<MinMaxScalerFunction>(std::move(value), std::move(bounds), low, high);
}

constexpr WindowOp kRows[] = {
    {"$derivative", ParseDerivative, "operator/aggregation/derivative", "window/derivative"},
    {"$expMovingAvg", ParseExpMovingAvg, "operator/aggregation/expMovingAvg",
     "window/expMovingAvg"},
    {"$integral", ParseIntegral, "operator/aggregation/integral", "window/integral"},
    {"$minMaxScaler", ParseMinMaxScaler, "operator/aggregation/minMaxScaler",
     "window/minMaxScaler"},
};

}  // namespace

std::span<const WindowOp> SeriesFunctions() { return kRows; }

}  // namespace evenkeel::query::window
