// $out. The router carries it out.
#include <algorithm>

#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/write_spec.h"

namespace evenkeel::query {
namespace {

using bson::Type;

absl::Status WrongType(std::string_view field, bson::Value value, std::string_view wanted) {
  return Error(ErrorCode::kTypeMismatch,
               "BSON field '$out.{}' is the wrong type '{}', expected type '{}'", field,
               expr::TypeName(value.type()), wanted);
}

// A span of seconds. Errors: 14 for no number, 2 outside of (0, one year].
absl::Status CheckSeconds(const bson::Element& field) {
  constexpr int64_t kSecondsMax = 31'536'000;
  if (!field.value.IsNumber()) return WrongType(field.key, field.value, "number");
  const int64_t seconds = bson::ToInt64Truncated(field.value);
  if (seconds >= 1 && seconds <= kSecondsMax) return absl::OkStatus();
  return Error(ErrorCode::kBadValue, "BSON field '$out.timeseries.{}' must be from 1 to {}",
               field.key, kSecondsMax);
}

absl::Status CheckTimeseriesField(const bson::Element& field) {
  if (field.key == "timeField" || field.key == "metaField" || field.key == "granularity") {
    if (!field.value.Is(Type::kString)) return WrongType(field.key, field.value, "string");
    constexpr std::string_view kGranularities[] = {"seconds", "minutes", "hours"};
    if (field.key == "granularity" &&
        std::find(std::begin(kGranularities), std::end(kGranularities), field.value.AsString()) ==
            std::end(kGranularities)) {
      return Error(ErrorCode::kBadValue, "'{}' is no granularity", field.value.AsString());
    }
    return absl::OkStatus();
  }
  if (field.key == "bucketMaxSpanSeconds" || field.key == "bucketRoundingSeconds") {
    return CheckSeconds(field);
  }
  return Error(Location(40415), "BSON field '$out.timeseries.{}' is an unknown field.", field.key);
}

absl::Status CheckTimeseries(bson::Value spec) {
  if (!spec.Is(Type::kObject)) return WrongType("timeseries", spec, "object");
  const bson::View fields = spec.AsDocument();
  for (const bson::Element& field : fields) {
    if (!field.value.Is(Type::kNull)) EVENKEEL_RETURN_IF_ERROR(CheckTimeseriesField(field));
  }
  if (fields["timeField"].IsNullish()) {
    return Error(Location(40414),
                 "BSON field '$out.timeseries.timeField' is missing but a required field");
  }
  const bson::Value span = fields["bucketMaxSpanSeconds"];
  const bson::Value rounding = fields["bucketRoundingSeconds"];
  const bool equal = span.IsNullish() == rounding.IsNullish() &&
                     (span.IsNullish() || bson::CompareNumbers(span, rounding) == 0);
  if (!equal || (!span.IsNullish() && !fields["granularity"].IsNullish())) {
    return Error(ErrorCode::kInvalidOptions,
                 "bucketMaxSpanSeconds and bucketRoundingSeconds must be equal, without a "
                 "granularity");
  }
  return Error(ErrorCode::kCommandNotSupported, "$out into a time series is not supported");
}

absl::StatusOr<std::string> RequiredName(bson::View spec, std::string_view field) {
  const bson::Value value = spec[field];
  if (value.IsNullish()) {
    return Error(Location(40414), "BSON field '$out.{}' is missing but a required field", field);
  }
  if (!value.Is(Type::kString)) return WrongType(field, value, "string");
  return std::string(value.AsString());
}

class OutStage final : public Stage {
 public:
  using Stage::Stage;
  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator>,
                                                  const QueryContext&) const override {
    return Error(ErrorCode::kInternalError, "$out is carried out by the router");
  }
};

absl::Status ParseOutStage(const stage::StageOp& op, bson::Value spec, const QueryContext& context,
                           stage::StageList* out) {
  EVENKEEL_RETURN_IF_ERROR(ParseOut(spec, context).status());
  return stage::AddStage<OutStage>(out, op, spec);
}

}  // namespace

absl::StatusOr<OutSpec> ParseOut(bson::Value spec, const QueryContext& context) {
  OutSpec parsed;
  parsed.database = context.ns.substr(0, context.ns.find('.'));
  if (spec.Is(Type::kString)) {
    parsed.collection = std::string(spec.AsString());
    return parsed;
  }
  if (!spec.Is(Type::kObject)) {
    return Error(Location(16990), "$out only supports a string or object argument, but found {}",
                 expr::TypeName(spec.type()));
  }
  const bson::View fields = spec.AsDocument();
  std::vector<std::string_view> seen;
  for (const bson::Element& field : fields) {
    if (field.key != "db" && field.key != "coll" && field.key != "timeseries") {
      return Error(Location(40415), "BSON field '$out.{}' is an unknown field.", field.key);
    }
    if (std::find(seen.begin(), seen.end(), field.key) != seen.end()) {
      return Error(Location(40413), "BSON field '$out.{}' is a duplicate field", field.key);
    }
    seen.push_back(field.key);
  }
  EVENKEEL_ASSIGN_OR_RETURN(parsed.database, RequiredName(fields, "db"));
  EVENKEEL_ASSIGN_OR_RETURN(parsed.collection, RequiredName(fields, "coll"));
  if (!fields["timeseries"].IsNullish()) {
    EVENKEEL_RETURN_IF_ERROR(CheckTimeseries(fields["timeseries"]));
  }
  return parsed;
}

namespace stage {
namespace {

constexpr StageOp kRows[] = {
    {.name = "$out",
     .where = Where::kRouter,
     .writes = true,
     .allowed_in_txn = false,
     .last_only = true,
     .allowed_in_facet = false,
     .split = Split::kMerger,
     .parse = ParseOutStage,
     .spec = "operator/aggregation/out",
     .tests = "stages/out"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> OutStages() { return kRows; }

}  // namespace stage
}  // namespace evenkeel::query
