// Stages whose documents the driver makes: $collStats, $currentOp, $listClusterCatalog,
// $shardedDataDistribution.
#include <algorithm>

#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

// Passes its input on: the driver feeds the documents.
class SourceStage final : public Stage {
 public:
  using Stage::Stage;
  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext&) const override {
    return input;
  }
};

absl::Status UnknownField(const StageOp& op, std::string_view field) {
  return Error(Location(40415), "BSON field '{}.{}' is an unknown field.", op.name, field);
}

absl::Status WrongFieldType(const StageOp& op, const bson::Element& field,
                            std::string_view wanted) {
  return Error(ErrorCode::kTypeMismatch,
               "BSON field '{}.{}' is the wrong type '{}', expected type '{}'", op.name, field.key,
               expr::TypeName(field.value.type()), wanted);
}

absl::Status CheckScale(const StageOp& op, const bson::Element& scale) {
  if (scale.value.IsNullish()) return absl::OkStatus();
  if (!scale.value.IsNumber()) return WrongFieldType(op, scale, "number");
  if (bson::ToInt64Truncated(scale.value) < 1) {
    return Error(ErrorCode::kBadValue, "BSON field 'scale' value must be >= 1");
  }
  return absl::OkStatus();
}

// One option of $collStats.
absl::Status CheckCollStatsOption(const StageOp& op, const bson::Element& option) {
  constexpr std::string_view kNames[] = {"latencyStats", "storageStats", "count", "queryExecStats"};
  if (std::find(std::begin(kNames), std::end(kNames), option.key) == std::end(kNames)) {
    return UnknownField(op, option.key);
  }
  if (!option.value.Is(bson::Type::kObject)) return WrongFieldType(op, option, "object");
  const bool takes_none = option.key == "count" || option.key == "queryExecStats";
  for (const bson::Element& field : option.value.AsDocument()) {
    if (takes_none) {
      return Error(Location(31170), "{} does not take arguments, found {}", option.key, field.key);
    }
    if (option.key == "latencyStats") {
      if (field.key != "histograms") return UnknownField(op, field.key);
      if (!field.value.Is(bson::Type::kBool)) return WrongFieldType(op, field, "bool");
    } else if (field.key == "scale") {
      EVENKEEL_RETURN_IF_ERROR(CheckScale(op, field));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseCollStats(const StageOp& op, bson::Value spec, const QueryContext&,
                            StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kTypeMismatch, "$collStats must take a nested object but found: {}",
                 expr::TypeName(spec.type()));
  }
  for (const bson::Element& option : spec.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(CheckCollStatsOption(op, option));
  }
  return AddStage<SourceStage>(out, op, spec);
}

// Options that are all booleans.
absl::Status CheckFlags(const StageOp& op, bson::Value spec,
                        std::span<const std::string_view> names) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kTypeMismatch,
                 "{} options must be specified in an object, but found {}", op.name,
                 expr::TypeName(spec.type()));
  }
  for (const bson::Element& option : spec.AsDocument()) {
    if (std::find(names.begin(), names.end(), option.key) == names.end()) {
      return UnknownField(op, option.key);
    }
    if (!option.value.Is(bson::Type::kBool)) return WrongFieldType(op, option, "bool");
  }
  return absl::OkStatus();
}

absl::Status ParseCurrentOp(const StageOp& op, bson::Value spec, const QueryContext&,
                            StageList* out) {
  constexpr std::string_view kNames[] = {"allUsers",     "idleConnections", "idleCursors",
                                         "idleSessions", "localOps",        "targetAllNodes",
                                         "truncateOps"};
  EVENKEEL_RETURN_IF_ERROR(CheckFlags(op, spec, kNames));
  return AddStage<SourceStage>(out, op, spec);
}

absl::Status ParseListClusterCatalog(const StageOp& op, bson::Value spec, const QueryContext&,
                                     StageList* out) {
  constexpr std::string_view kNames[] = {"shards", "tracked", "balancingConfiguration"};
  EVENKEEL_RETURN_IF_ERROR(CheckFlags(op, spec, kNames));
  return AddStage<SourceStage>(out, op, spec);
}

absl::Status ParseShardedDataDistribution(const StageOp& op, bson::Value spec, const QueryContext&,
                                          StageList* out) {
  if (!spec.Is(bson::Type::kObject) || !spec.AsDocument().empty()) {
    return Error(Location(6789100),
                 "The $shardedDataDistribution stage specification must be an "
                 "empty object");
  }
  return AddStage<SourceStage>(out, op, spec);
}

absl::Status ParseListSessions(const StageOp& op, bson::Value spec, const QueryContext&,
                               StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kTypeMismatch,
                 "{} options must be specified in an object, but found: {}", op.name,
                 expr::TypeName(spec.type()));
  }
  const bson::View options = spec.AsDocument();
  for (const bson::Element& option : options) {
    if (option.key == "allUsers") {
      if (!option.value.Is(bson::Type::kBool)) return WrongFieldType(op, option, "bool");
    } else if (option.key == "users") {
      if (!option.value.Is(bson::Type::kArray)) return WrongFieldType(op, option, "array");
    } else {
      return UnknownField(op, option.key);
    }
  }
  if (bson::Truthy(options["allUsers"]) && options.Contains("users")) {
    return Error(Location(12),
                 "{} may not specify {{allUsers:true}} and {{users:[...]}} at the same time",
                 op.name);
  }
  return AddStage<SourceStage>(out, op, spec);
}

absl::Status ParseQuerySettings(const StageOp& op, bson::Value spec, const QueryContext&,
                                StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(Location(7746800), "$querySettings stage expects a document as argument");
  }
  constexpr std::string_view kNames[] = {"showDebugQueryShape"};
  EVENKEEL_RETURN_IF_ERROR(CheckFlags(op, spec, kNames));
  return AddStage<SourceStage>(out, op, spec);
}

absl::Status ParseQueryStats(const StageOp& op, bson::Value spec, const QueryContext&,
                             StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "$queryStats value must be an object. Found: {}",
                 expr::TypeName(spec.type()));
  }
  for (const bson::Element& option : spec.AsDocument()) {
    if (option.key != "transformIdentifiers") return UnknownField(op, option.key);
    if (!option.value.Is(bson::Type::kObject)) return WrongFieldType(op, option, "object");
  }
  return AddStage<SourceStage>(out, op, spec);
}

// A stage of a whole database whose documents the router makes.
constexpr StageOp OfDatabase(std::string_view name, ParseFn parse, std::string_view spec,
                             std::string_view tests) {
  return {.name = name,
          .where = Where::kRouter,
          .allowed_in_txn = false,
          .first_only = true,
          .allowed_in_facet = false,
          .whole_database = true,
          .source = Source::kDriver,
          .split = Split::kMerger,
          .parse = parse,
          .spec = spec,
          .tests = tests};
}

constexpr StageOp kRows[] = {
    {.name = "$collStats",
     .where = Where::kShard,
     .allowed_in_txn = false,
     .first_only = true,
     .allowed_in_facet = false,
     .source = Source::kDriver,
     .parse = ParseCollStats,
     .spec = "operator/aggregation/collStats",
     .tests = "stages/collStats"},
    {.name = "$currentOp",
     .allowed_in_txn = false,
     .first_only = true,
     .allowed_in_facet = false,
     .whole_database = true,
     .source = Source::kDriver,
     .parse = ParseCurrentOp,
     .spec = "operator/aggregation/currentOp",
     .tests = "system-stages/currentOp"},
    {.name = "$listClusterCatalog",
     .where = Where::kRouter,
     .allowed_in_txn = false,
     .first_only = true,
     .allowed_in_facet = false,
     .source = Source::kDriver,
     .split = Split::kMerger,
     .parse = ParseListClusterCatalog,
     .spec = "operator/aggregation/listClusterCatalog",
     .tests = "stages/listClusterCatalog"},
    OfDatabase("$listLocalSessions", ParseListSessions, "operator/aggregation/listLocalSessions",
               "system-stages/listLocalSessions"),
    OfDatabase("$listSessions", ParseListSessions, "operator/aggregation/listSessions",
               "system-stages/listSessions"),
    OfDatabase("$querySettings", ParseQuerySettings, "operator/aggregation/querySettings",
               "stages/querySettings"),
    OfDatabase("$queryStats", ParseQueryStats, "operator/aggregation/queryStats",
               "stages/queryStats"),
    {.name = "$shardedDataDistribution",
     .where = Where::kRouter,
     .allowed_in_txn = false,
     .first_only = true,
     .allowed_in_facet = false,
     .source = Source::kDriver,
     .split = Split::kMerger,
     .parse = ParseShardedDataDistribution,
     .spec = "operator/aggregation/shardedDataDistribution",
     .tests = "stages/shardedDataDistribution"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> SourceStages() { return kRows; }

}  // namespace evenkeel::query::stage
