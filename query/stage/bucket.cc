// $bucket: short for a $group by the lower boundary and a $sort.
#include <optional>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/check.h"
#include "query/expr/expression.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

struct BucketSpec {
  bson::Value group_by, output;
  std::vector<bson::OwnedValue> boundaries;
  std::optional<bson::OwnedValue> other;  // the default
};

absl::Status AddNamed(std::string_view name, const bson::Document& spec,
                      const QueryContext& context, StageList* out) {
  const StageOp* op = FindStage(name);
  EVENKEEL_CHECK(op != nullptr);
  return op->parse(*op, bson::Value(Type::kObject, spec.view().data()), context, out);
}

absl::Status CheckGroupBy(bson::Value spec) {
  const bool path = spec.Is(Type::kString) && spec.AsString().starts_with('$');
  const bool expression = spec.Is(Type::kObject) && spec.AsDocument().Front().key.starts_with('$');
  if (path || expression) return absl::OkStatus();
  return Error(Location(40202),
               "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression");
}

absl::StatusOr<bson::OwnedValue> ConstantOf(bson::Value spec, const QueryContext& context,
                                            ErrorCode code, std::string_view field) {
  EVENKEEL_ASSIGN_OR_RETURN(const ExpressionPtr expression, Expression::Parse(spec, context));
  const std::optional<bson::Value> constant = expression->Constant();
  if (constant && !constant->missing()) return bson::OwnedValue(*constant);
  return Error(code, "The $bucket '{}' field must be a constant", field);
}

absl::Status ReadBoundaries(bson::Value spec, const QueryContext& context, BucketSpec* bucket) {
  if (!spec.Is(Type::kArray)) {
    return Error(Location(40200), "The $bucket 'boundaries' field must be an array, but found {}",
                 expr::TypeName(spec.type()));
  }
  for (const bson::Element& boundary : spec.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(bson::OwnedValue value,
                              ConstantOf(boundary.value, context, Location(40191), "boundaries"));
    bucket->boundaries.push_back(std::move(value));
  }
  const auto& values = bucket->boundaries;
  if (values.size() < 2) {
    return Error(Location(40192), "The $bucket 'boundaries' field must have at least 2 values");
  }
  for (size_t i = 1; i < values.size(); ++i) {
    const bson::Value before = values[i - 1].value(), value = values[i].value();
    if (bson::CanonicalRank(before.type()) != bson::CanonicalRank(value.type())) {
      return Error(Location(40193), "All values in the 'boundaries' of $bucket must have one type");
    }
    if (bson::Compare(before, value, context.collation) >= 0) {
      return Error(Location(40194), "The 'boundaries' of $bucket must be sorted, each once");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadField(const bson::Element& field, const QueryContext& context,
                       BucketSpec* bucket) {
  if (field.key == "groupBy") {
    bucket->group_by = field.value;
    return CheckGroupBy(field.value);
  }
  if (field.key == "boundaries") return ReadBoundaries(field.value, context, bucket);
  if (field.key == "default") {
    EVENKEEL_ASSIGN_OR_RETURN(bucket->other,
                              ConstantOf(field.value, context, Location(40195), "default"));
    return absl::OkStatus();
  }
  if (field.key == "output") {
    bucket->output = field.value;
    if (field.value.Is(Type::kObject)) return absl::OkStatus();
    return Error(Location(40196), "The $bucket 'output' field must be an object, but found {}",
                 expr::TypeName(field.value.type()));
  }
  return Error(Location(40197), "Unrecognized option to $bucket: {}", field.key);
}

absl::Status CheckDefault(const BucketSpec& bucket, const QueryContext& context) {
  if (!bucket.other) return absl::OkStatus();
  const bson::Value other = bucket.other->value();
  const bson::Value lowest = bucket.boundaries.front(), highest = bucket.boundaries.back();
  if (bson::Compare(other, lowest, context.collation) < 0 ||
      bson::Compare(other, highest, context.collation) >= 0) {
    return absl::OkStatus();
  }
  return Error(Location(40199),
               "The $bucket 'default' must be below the lowest or at least the highest boundary");
}

// {$op: [groupBy, {$const: boundary}]}.
void AppendComparison(bson::Builder& out, std::string_view op, bson::Value group_by,
                      bson::Value boundary) {
  out.OpenDocument(op == "$gte" ? "0" : "1").OpenArray(op).Append("0", group_by);
  out.OpenDocument("1").Append("$const", boundary).Close().Close().Close();
}

bson::Document GroupSpec(const BucketSpec& bucket) {
  bson::Builder group;
  group.OpenDocument("_id").OpenDocument("$switch").OpenArray("branches");
  bson::ArrayAppender branches(group);
  for (size_t i = 0; i + 1 < bucket.boundaries.size(); ++i) {
    group.OpenDocument(branches.NextKey()).OpenDocument("case").OpenArray("$and");
    AppendComparison(group, "$gte", bucket.group_by, bucket.boundaries[i]);
    AppendComparison(group, "$lt", bucket.group_by, bucket.boundaries[i + 1]);
    group.Close().Close();
    group.OpenDocument("then").Append("$const", bucket.boundaries[i]).Close().Close();
  }
  group.Close();
  if (bucket.other) group.OpenDocument("default").Append("$const", *bucket.other).Close();
  group.Close().Close();
  if (bucket.output.missing()) {
    group.OpenDocument("count").Append("$sum", 1).Close();
  } else {
    group.AppendFields(bucket.output.AsDocument());
  }
  return group.Finish();
}

absl::Status ParseBucket(const StageOp&, bson::Value spec, const QueryContext& context,
                         StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(Location(40201), "Argument to $bucket stage must be an object, but found {}",
                 expr::TypeName(spec.type()));
  }
  BucketSpec bucket;
  for (const bson::Element& field : spec.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(ReadField(field, context, &bucket));
  }
  if (bucket.group_by.missing() || bucket.boundaries.empty()) {
    return Error(Location(40198), "$bucket requires 'groupBy' and 'boundaries' to be specified.");
  }
  EVENKEEL_RETURN_IF_ERROR(CheckDefault(bucket, context));
  EVENKEEL_RETURN_IF_ERROR(AddNamed("$group", GroupSpec(bucket), context, out));
  bson::Builder sort;
  sort.Append("_id", 1);
  return AddNamed("$sort", sort.Finish(), context, out);
}

constexpr StageOp kRows[] = {
    {.name = "$bucket",
     .order = Order::kSorts,
     .bounded_memory = false,
     .split = Split::kHalves,
     .parse = ParseBucket,
     .spec = "operator/aggregation/bucket",
     .tests = "stages/bucket"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> BucketStages() { return kRows; }

}  // namespace evenkeel::query::stage
