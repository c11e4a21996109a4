// $median, $percentile: the smallest value with at least the share p of all numbers at or below it.
//
// All numbers are kept, so the "approximate" method is exact; the memory limit bounds them.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/bson/number.h"
#include "query/accum/groups.h"
#include "query/expr/kernel.h"
#include "query/expr/nodes.h"

namespace evenkeel::query::accum {
namespace {

using bson::Type;

// Numbers, and the shares that are asked for.
template <bool kMedian>
struct PercentileState {
  std::vector<double> shares;
  mutable std::vector<double> numbers;  // sorted when asked

  absl::Status Init(bson::Value argument) {
    if (kMedian) {
      shares.push_back(0.5);
      return absl::OkStatus();
    }
    for (const bson::Element& share : argument.AsDocument()) {
      shares.push_back(bson::ToDouble(share.value));
    }
    return absl::OkStatus();
  }
  void Keep(double number, AccumContext& context) {
    if (std::isnan(number)) return;
    numbers.push_back(number);
    context.memory_bytes += sizeof(double);
  }
  absl::Status Add(bson::Value value, AccumContext& context) {
    if (value.IsNumber()) Keep(bson::ToDouble(value), context);
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) {
    const std::string_view bytes = partial.AsBinary().bytes;
    for (size_t at = 0; at + sizeof(double) <= bytes.size(); at += sizeof(double)) {
      Keep(bson::LoadLittle<double>(bytes.data() + at), context);
    }
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const {
    builder.AppendBinary(
        key, 0, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
  }
  double At(double share) const {
    const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(numbers.size())));
    return numbers[rank == 0 ? 0 : rank - 1];
  }
  void Finish(bson::Builder& builder, std::string_view key) const {
    std::sort(numbers.begin(), numbers.end());
    if (kMedian) {
      if (numbers.empty()) {
        builder.AppendNull(key);
      } else {
        builder.Append(key, At(shares.front()));
      }
      return;
    }
    builder.OpenArray(key);
    bson::ArrayAppender array(builder);
    for (const double share : shares) {
      if (numbers.empty()) {
        builder.AppendNull(array.NextKey());
      } else {
        array.Add(At(share));
      }
    }
    builder.Close();
  }
};

absl::Status CheckMethod(bson::Value method) {
  if (!method.Is(Type::kString)) {
    return Error(ErrorCode::kTypeMismatch, "the percentile 'method' must be a string, found {}",
                 expr::TypeName(method.type()));
  }
  if (method.AsString() == "approximate") return absl::OkStatus();
  return Error(ErrorCode::kBadValue,
               "Currently only 'approximate' can be used as percentile 'method', found '{}'",
               method.AsString());
}

// The constant array of shares. Errors: 7750301, 7750302, 7750303.
absl::StatusOr<ExpressionPtr> ParseShares(bson::Value spec, ParseScope& scope) {
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr shares, Expression::Parse(spec, scope));
  const std::optional<bson::Value> constant = shares->Constant();
  if (!constant) {
    return Error(Location(7750300),
                 "The $percentile 'p' field must be an array of constant values");
  }
  if (!constant->Is(Type::kArray) || constant->AsDocument().empty()) {
    return Error(Location(7750301),
                 "The $percentile 'p' field must be an array of numbers from [0.0, 1.0]");
  }
  for (const bson::Element& share : constant->AsDocument()) {
    if (!share.value.IsNumber()) {
      return Error(Location(7750302), "a share in 'p' must be a number, found {}",
                   expr::TypeName(share.value.type()));
    }
    const double number = bson::ToDouble(share.value);
    if (!(number >= 0 && number <= 1)) {
      return Error(Location(7750303), "a share in 'p' must be within [0.0, 1.0], found {}", number);
    }
  }
  return shares;
}

absl::StatusOr<AccumSpec> Parse(const AccumOp& op, bson::Value args, ParseScope& scope) {
  const bool median = op.name == "$median";
  if (!args.Is(Type::kObject)) {
    return Error(Location(median ? 7436100 : 7429703),
                 "specification of {} must be an object, found {}", op.name,
                 expr::TypeName(args.type()));
  }
  const bson::View spec = args.AsDocument();
  for (const bson::Element& field : spec) {
    if (field.key == "input" || field.key == "method" || (!median && field.key == "p")) continue;
    return Error(Location(40415), "BSON field '{}.{}' is an unknown field.", op.name, field.key);
  }
  for (const std::string_view name : {"input", "p", "method"}) {
    if ((name == "p" && median) || spec.Contains(name)) continue;
    return Error(Location(40414), "BSON field '{}.{}' is missing but a required field", op.name,
                 name);
  }
  EVENKEEL_RETURN_IF_ERROR(CheckMethod(spec["method"]));
  AccumSpec parsed{.op = &op};
  if (!median) {
    EVENKEEL_ASSIGN_OR_RETURN(parsed.argument, ParseShares(spec["p"], scope));
  }
  EVENKEEL_ASSIGN_OR_RETURN(parsed.input, Expression::Parse(spec["input"], scope));
  return parsed;
}

constexpr AccumOp kRows[] = {
    Row<PercentileState<true>>({.name = "$median",
                                .parse = Parse,
                                .spec = "operator/aggregation/median",
                                .tests = "accumulators/median"}),
    Row<PercentileState<false>>({.name = "$percentile",
                                 .parse = Parse,
                                 .spec = "operator/aggregation/percentile",
                                 .tests = "accumulators/percentile"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> PercentileOps() { return kRows; }

}  // namespace evenkeel::query::accum
