// Joins the groups of accumulators into one table, sorted by name.
#include "query/accum/table.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "query/accum/groups.h"

namespace evenkeel::query::accum {
namespace {

std::vector<const AccumOp*> JoinGroups() {
  const std::span<const AccumOp> groups[] = {
      CovarianceOps(), FirstLastOps(), MinMaxOps(), ObjectOps(),    PercentileOps(),
      SetOps(),        StatsOps(),     SumAvgOps(), TopBottomOps(),
  };
  std::vector<const AccumOp*> rows;
  for (const std::span<const AccumOp> group : groups) {
    for (const AccumOp& row : group) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const AccumOp* a, const AccumOp* b) { return a->name < b->name; });
  for (size_t i = 1; i < rows.size(); ++i) EVENKEEL_CHECK(rows[i - 1]->name != rows[i]->name);
  return rows;
}

}  // namespace

std::span<const AccumOp* const> AllAccumulators() {
  static const std::vector<const AccumOp*> rows = JoinGroups();
  return rows;
}

const AccumOp* FindAccumulator(std::string_view name) {
  const std::span<const AccumOp* const> rows = AllAccumulators();
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const AccumOp* row, std::string_view n) { return row->name < n; });
  return at != rows.end() && (*at)->name == name ? *at : nullptr;
}

absl::StatusOr<AccumSpec> ParseUnary(const AccumOp& op, bson::Value args, ParseScope& scope) {
  if (args.Is(bson::Type::kArray)) {
    return Error(Location(40237), "The {} accumulator is a unary operator", op.name);
  }
  AccumSpec spec{.op = &op};
  EVENKEEL_ASSIGN_OR_RETURN(spec.input, Expression::Parse(args, scope));
  return spec;
}

absl::StatusOr<AccumSpec> ParseGroupAccumulator(std::string_view name, bson::Value args,
                                                ParseScope& scope) {
  const AccumOp* op = FindAccumulator(name);
  if (op == nullptr || op->place == AccumPlace::kWindow) {
    if (args.Is(bson::Type::kArray)) {
      return Error(Location(40237), "The {} accumulator is a unary operator", name);
    }
    return Error(Location(15952), "unknown group operator '{}'", name);
  }
  if (op->parse == nullptr) {
    return Error(ErrorCode::kCommandNotSupported, "the accumulator {} is not supported", name);
  }
  return op->parse(*op, args, scope);
}

absl::StatusOr<AccumSpec> ParseWindowAccumulator(std::string_view name, bson::Value args,
                                                 ParseScope& scope) {
  const AccumOp* op = FindAccumulator(name);
  if (op == nullptr || op->place == AccumPlace::kGroup) {
    return Error(ErrorCode::kFailedToParse, "Unrecognized window function, {}", name);
  }
  if (op->parse == nullptr) {
    return Error(ErrorCode::kCommandNotSupported, "the accumulator {} is not supported", name);
  }
  if (op->parse != ParseUnary) return op->parse(*op, args, scope);
  AccumSpec spec{.op = op};
  EVENKEEL_ASSIGN_OR_RETURN(spec.input, Expression::Parse(args, scope));
  return spec;
}

}  // namespace evenkeel::query::accum
