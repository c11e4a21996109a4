// $bucketAuto.
#include "query/exec/bucket_auto.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/output_fields.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

class BucketAutoStage final : public Stage {
 public:
  BucketAutoStage(const StageOp& op, bson::Value spec, BucketAutoSpec parsed)
      : Stage(op, spec), parsed_(std::move(parsed)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<BucketAutoOperator>(std::move(input), parsed_, context);
  }
  Reads AddReads(const QueryContext&, Dependencies* reads) const override {
    parsed_.group_by->AddDependencies(*reads);
    for (const accum::OutputField& field : parsed_.output) {
      field.accumulator.input->AddDependencies(*reads);
    }
    return Reads::kOnly;
  }

 private:
  BucketAutoSpec parsed_;
};

absl::StatusOr<ExpressionPtr> ParseGroupBy(bson::Value spec, ParseScope& scope) {
  const bool path = spec.Is(Type::kString) && spec.AsString().starts_with('$');
  const bool expression = spec.Is(Type::kObject) && spec.AsDocument().Front().key.starts_with('$');
  if (!path && !expression) {
    return Error(Location(40239),
                 "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an "
                 "expression object");
  }
  return Expression::Parse(spec, scope);
}

absl::StatusOr<int32_t> ParseBuckets(bson::Value spec) {
  if (!spec.IsNumber()) {
    return Error(Location(40241),
                 "The $bucketAuto 'buckets' field must be a numeric value, but found {}",
                 expr::TypeName(spec.type()));
  }
  const std::optional<int32_t> count = expr::Int32Of(spec);
  if (!count) {
    return Error(Location(40242),
                 "The $bucketAuto 'buckets' field must be representable as a 32-bit integer");
  }
  if (*count <= 0) {
    return Error(Location(40243),
                 "The $bucketAuto 'buckets' field must be greater than 0, but found {}", *count);
  }
  return *count;
}

absl::StatusOr<std::unique_ptr<Granularity>> ParseGranularity(bson::Value spec) {
  if (!spec.Is(Type::kString)) {
    return Error(Location(40261),
                 "The $bucketAuto 'granularity' field must be a string, but found {}",
                 expr::TypeName(spec.type()));
  }
  std::unique_ptr<Granularity> found = Granularity::Find(spec.AsString());
  if (found == nullptr) {
    return Error(Location(40257), "Unknown rounding granularity '{}'", spec.AsString());
  }
  return found;
}

absl::Status ReadField(const bson::Element& field, ParseScope& scope, BucketAutoSpec* parsed,
                       bool* has_buckets) {
  if (field.key == "groupBy") {
    EVENKEEL_ASSIGN_OR_RETURN(parsed->group_by, ParseGroupBy(field.value, scope));
  } else if (field.key == "buckets") {
    *has_buckets = true;
    EVENKEEL_ASSIGN_OR_RETURN(parsed->buckets, ParseBuckets(field.value));
  } else if (field.key == "granularity") {
    EVENKEEL_ASSIGN_OR_RETURN(parsed->granularity, ParseGranularity(field.value));
  } else if (field.key == "output") {
    if (!field.value.Is(Type::kObject)) {
      return Error(Location(40244),
                   "The $bucketAuto 'output' field must be an object, but found {}",
                   expr::TypeName(field.value.type()));
    }
    for (const bson::Element& output : field.value.AsDocument()) {
      EVENKEEL_ASSIGN_OR_RETURN(accum::OutputField made, ParseOutputField(output, scope));
      parsed->output.push_back(std::move(made));
    }
  } else {
    return Error(Location(40245), "Unrecognized option to $bucketAuto: {}", field.key);
  }
  return absl::OkStatus();
}

absl::Status ParseBucketAuto(const StageOp& op, bson::Value spec, const QueryContext& context,
                             StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(Location(40240), "The argument to $bucketAuto must be an object, but found {}",
                 expr::TypeName(spec.type()));
  }
  ParseScope scope(context);
  BucketAutoSpec parsed;
  bool has_buckets = false;
  for (const bson::Element& field : spec.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(ReadField(field, scope, &parsed, &has_buckets));
  }
  if (parsed.group_by == nullptr || !has_buckets) {
    return Error(Location(40246), "$bucketAuto requires 'groupBy' and 'buckets' to be specified");
  }
  if (!spec.AsDocument().Contains("output")) {
    bson::Builder count;
    count.OpenDocument("count").Append("$sum", 1).Close();
    const bson::Document document = count.Finish();
    EVENKEEL_ASSIGN_OR_RETURN(accum::OutputField made,
                              ParseOutputField(document.view().Front(), scope));
    parsed.output.push_back(std::move(made));
  }
  return AddStage<BucketAutoStage>(out, op, spec, std::move(parsed));
}

constexpr StageOp kRows[] = {
    {.name = "$bucketAuto",
     .order = Order::kSorts,
     .bounded_memory = false,
     .split = Split::kMerger,
     .parse = ParseBucketAuto,
     .spec = "operator/aggregation/bucketAuto",
     .tests = "stages/bucketAuto"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> BucketAutoStages() { return kRows; }

}  // namespace evenkeel::query::stage
