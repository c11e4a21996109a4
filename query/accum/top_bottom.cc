// $bottom, $bottomN, $top, $topN: the first or last values by an order of their own.
//
// The input of these accumulators is {k: sort key, v: value}, the argument {n: count, by: pattern};
// both are made by nodes here, so that groups, partial groups and windows treat them like any
// other.
#include <algorithm>
#include <vector>

#include "base/bson/document.h"
#include "query/accum/groups.h"
#include "query/accum/parse_n.h"
#include "query/expr/kernel.h"
#include "query/plan/sort_pattern.h"

namespace evenkeel::query::accum {
namespace {

using bson::Type;

// {k: the document's sort key, v: output}.
class KeyedValueNode final : public Expression {
 public:
  KeyedValueNode(SortPattern pattern, ExpressionPtr output)
      : pattern_(std::move(pattern)), output_(std::move(output)) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    const bson::Document key =
        pattern_.KeyOf(evaluation.root().AsDocument(), evaluation.collation());
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, output_->Evaluate(evaluation));
    ArenaBuilder pair(evaluation.arena(), Type::kObject);
    pair.Append("k", bson::Value(Type::kArray, key.view().data()));
    pair.Append("v", value.missing() ? NullValue() : value);
    return pair.Finish();
  }
  void AddDependencies(Dependencies& dependencies) const override {
    for (const SortField& field : pattern_.fields()) dependencies.paths.insert(field.path.dotted());
    output_->AddDependencies(dependencies);
  }

 private:
  SortPattern pattern_;
  ExpressionPtr output_;
};

// {n: count, by: pattern}; without an n it is 1.
class OrderNode final : public Expression {
 public:
  OrderNode(ExpressionPtr count, bson::View pattern) : count_(std::move(count)), by_(pattern) {}

  absl::StatusOr<bson::Value> Evaluate(Evaluation& evaluation) const override {
    bson::Value count = evaluation.arena().Int32(1);
    if (count_ != nullptr) {
      EVENKEEL_ASSIGN_OR_RETURN(count, count_->Evaluate(evaluation));
    }
    ArenaBuilder order(evaluation.arena(), Type::kObject);
    order.Append("n", count);
    order.Append("by", bson::Value(Type::kObject, by_.view().data()));
    return order.Finish();
  }
  void AddDependencies(Dependencies& dependencies) const override {
    if (count_ != nullptr) count_->AddDependencies(dependencies);
  }

 private:
  ExpressionPtr count_;
  bson::Document by_;
};

// The first (or last) n of the order, in its order. Of equals the earlier rows are kept by $top,
// the later ones by $bottom.
template <bool kTop, bool kMany>
struct OrderedState {
  size_t n = 0;
  SortPattern pattern;
  std::vector<bson::OwnedValue> pairs;

  absl::Status Init(bson::Value argument) {
    EVENKEEL_RETURN_IF_ERROR(ReadN(argument.AsDocument()["n"], &n));
    EVENKEEL_ASSIGN_OR_RETURN(pattern,
                              SortPattern::Parse(argument.AsDocument()["by"].AsDocument()));
    return absl::OkStatus();
  }
  absl::Status Add(bson::Value pair, AccumContext& context) {
    const auto less = [this, &context](bson::Value a, const bson::OwnedValue& b) {
      return pattern.CompareKeys(a.AsDocument()["k"].AsDocument(),
                                 b.value().AsDocument()["k"].AsDocument(), context.collation) < 0;
    };
    const auto at = std::upper_bound(pairs.begin(), pairs.end(), pair, less);
    if (kTop && static_cast<size_t>(at - pairs.begin()) >= n) return absl::OkStatus();
    if (!kTop && pairs.size() == n && at == pairs.begin()) return absl::OkStatus();
    context.memory_bytes += sizeof(bson::OwnedValue) + pair.SizeBytes();
    pairs.insert(at, bson::OwnedValue(pair));
    if (pairs.size() > n) {
      const auto out = kTop ? pairs.end() - 1 : pairs.begin();
      context.memory_bytes -= sizeof(bson::OwnedValue) + out->value().SizeBytes();
      pairs.erase(out);
    }
    return absl::OkStatus();
  }
  absl::Status Merge(bson::Value partial, AccumContext& context) {
    for (const bson::Element& element : partial.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(Add(element.value, context));
    }
    return absl::OkStatus();
  }
  void Serialize(bson::Builder& builder, std::string_view key) const {
    builder.OpenArray(key);
    bson::ArrayAppender array(builder);
    for (const bson::OwnedValue& pair : pairs) array.Add(pair);
    builder.Close();
  }
  void Finish(bson::Builder& builder, std::string_view key) const {
    if (!kMany) {
      if (pairs.empty()) {
        builder.AppendNull(key);
      } else {
        builder.Append(key, pairs.front().value().AsDocument()["v"]);
      }
      return;
    }
    builder.OpenArray(key);
    bson::ArrayAppender array(builder);
    for (const bson::OwnedValue& pair : pairs) array.Add(pair.value().AsDocument()["v"]);
    builder.Close();
  }
};

absl::Status CheckKnown(const AccumOp& op, std::string_view field, bool many) {
  if (field == "output" || field == "sortBy" || (many && field == "n")) return absl::OkStatus();
  return Error(Location(5788002), "Unknown argument to {}: '{}'", op.name, field);
}

absl::StatusOr<AccumSpec> ParseOrdered(const AccumOp& op, bson::Value args, ParseScope& scope,
                                       bool many) {
  if (!args.Is(Type::kObject)) {
    return Error(Location(5788001), "specification must be an object; found {}", op.name);
  }
  const bson::View spec = args.AsDocument();
  for (const bson::Element& field : spec) {
    EVENKEEL_RETURN_IF_ERROR(CheckKnown(op, field.key, many));
  }
  const bson::Value count = spec["n"], output = spec["output"], by = spec["sortBy"];
  if (many && count.missing()) return Error(Location(5788003), "Missing value for 'n'");
  if (output.missing()) return Error(Location(5788004), "Missing value for 'output'");
  if (by.missing()) return Error(Location(5788005), "Missing value for 'sortBy'");
  if (!by.Is(Type::kObject)) {
    return Error(Location(5788604), "expected 'sortBy' to be an object in {}", op.name);
  }
  AccumSpec parsed{.op = &op};
  EVENKEEL_ASSIGN_OR_RETURN(SortPattern pattern, SortPattern::Parse(by.AsDocument()));
  if (pattern.empty())
    return Error(ErrorCode::kBadValue, "'sortBy' of {} must not be empty", op.name);
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr value, Expression::Parse(output, scope));
  ExpressionPtr how_many;
  if (many) {
    EVENKEEL_ASSIGN_OR_RETURN(how_many, Expression::Parse(count, scope));
  }
  parsed.argument = std::make_unique<OrderNode>(std::move(how_many), by.AsDocument());
  parsed.input = std::make_unique<KeyedValueNode>(std::move(pattern), std::move(value));
  return parsed;
}

absl::StatusOr<AccumSpec> ParseOne(const AccumOp& op, bson::Value args, ParseScope& scope) {
  return ParseOrdered(op, args, scope, false);
}
absl::StatusOr<AccumSpec> ParseMany(const AccumOp& op, bson::Value args, ParseScope& scope) {
  return ParseOrdered(op, args, scope, true);
}

constexpr AccumOp kRows[] = {
    Row<OrderedState<false, false>>({.name = "$bottom",
                                     .parse = ParseOne,
                                     .spec = "operator/aggregation/bottom",
                                     .tests = "accumulators/bottom"}),
    Row<OrderedState<false, true>>({.name = "$bottomN",
                                    .parse = ParseMany,
                                    .spec = "operator/aggregation/bottomN",
                                    .tests = "accumulators/bottomN"}),
    Row<OrderedState<true, false>>({.name = "$top",
                                    .parse = ParseOne,
                                    .spec = "operator/aggregation/top",
                                    .tests = "accumulators/top"}),
    Row<OrderedState<true, true>>({.name = "$topN",
                                   .parse = ParseMany,
                                   .spec = "operator/aggregation/topN",
                                   .tests = "accumulators/topN"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> TopBottomOps() { return kRows; }

}  // namespace evenkeel::query::accum
