// $avg, $count, $sum.
#include "query/accum/groups.h"
#include "query/accum/sliding.h"
#include "query/expr/kernel.h"
#include "query/expr/running_sum.h"

namespace evenkeel::query::accum {
namespace {

struct SumState {
  expr::RunningSum sum;

  absl::Status Add(bson::Value value, AccumContext&) {
    if (value.IsNumber()) sum.Add(value);
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext&) {
    sum.Merge(expr::RunningSum::Deserialize(partial));
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const {
    sum.Serialize(builder, key);
  }
  void Finish(bson::Builder& builder, std::string_view key) const {
    builder.Append(key, sum.Total().ToValue());
  }
};

struct AvgState {
  expr::RunningSum sum;
  int64_t count = 0;

  absl::Status Add(bson::Value value, AccumContext&) {
    if (!value.IsNumber()) return absl::OkStatus();
    sum.Add(value);
    ++count;
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext&) {
    sum.Merge(expr::RunningSum::Deserialize(partial.AsDocument()["sum"]));
    count += partial.AsDocument()["count"].AsInt64();
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const {
    builder.OpenDocument(key);
    sum.Serialize(builder, "sum");
    builder.Append("count", count);
    builder.Close();
  }
  void Finish(bson::Builder& builder, std::string_view key) const {
    if (count == 0) {
      builder.AppendNull(key);
    } else {
      builder.Append(key, sum.Average(count).ToValue());
    }
  }
};

// {$count: {}}: a sum of ones.
absl::StatusOr<AccumSpec> ParseCount(const AccumOp& op, bson::Value args, ParseScope&) {
  if (args.Is(bson::Type::kArray)) {
    return Error(Location(40237), "The $count accumulator is a unary operator");
  }
  if (!args.Is(bson::Type::kObject) || !args.AsDocument().empty()) {
    return Error(ErrorCode::kTypeMismatch, "$count takes no arguments, i.e. $count:{{}}");
  }
  EvalArena arena;
  AccumSpec spec{.op = &op};
  spec.input = expr::MakeConstant(arena.Int32(1));
  return spec;
}

constexpr AccumOp kRows[] = {
    Row<AvgState>({.name = "$avg",
                   .parse = ParseUnary,
                   .sliding = MakeSlidingAvg,
                   .spec = "operator/aggregation/avg",
                   .tests = "accumulators/avg"}),
    Row<SumState>({.name = "$count",
                   .parse = ParseCount,
                   .sliding = MakeSlidingSum,
                   .spec = "operator/aggregation/count-accumulator",
                   .tests = "accumulators/count"}),
    Row<SumState>({.name = "$sum",
                   .parse = ParseUnary,
                   .sliding = MakeSlidingSum,
                   .spec = "operator/aggregation/sum",
                   .tests = "accumulators/sum"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> SumAvgOps() { return kRows; }

}  // namespace evenkeel::query::accum
