// $fill: short for a $setWindowFields that fills and an $addFields for constant values.
#include <algorithm>

#include "base/bson/builder.h"
#include "base/check.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

absl::Status AddNamed(std::string_view name, const bson::Document& spec,
                      const QueryContext& context, StageList* out) {
  const StageOp* op = FindStage(name);
  EVENKEEL_CHECK(op != nullptr);
  return op->parse(*op, bson::Value(Type::kObject, spec.view().data()), context, out);
}

absl::Status CheckFieldTypes(bson::View spec) {
  struct Rule {
    std::string_view name;
    Type type;
  };
  constexpr Rule kRules[] = {{"partitionBy", Type::kEod},
                             {"partitionByFields", Type::kArray},
                             {"sortBy", Type::kObject},
                             {"output", Type::kObject}};
  for (const bson::Element& field : spec) {
    const auto rule = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const Rule& r) { return r.name == field.key; });
    if (rule == std::end(kRules)) {
      return Error(Location(40415), "BSON field '$fill.{}' is an unknown field.", field.key);
    }
    if (rule->type == Type::kEod || field.value.Is(rule->type)) continue;
    return Error(ErrorCode::kTypeMismatch,
                 "BSON field '$fill.{}' is the wrong type '{}', expected type '{}'", field.key,
                 expr::TypeName(field.value.type()), expr::TypeName(rule->type));
  }
  if (spec.Contains("output")) return absl::OkStatus();
  return Error(Location(40414), "BSON field '$fill.output' is missing but a required field");
}

// {f1: "$f1", …} of the fields' names.
absl::StatusOr<bson::Document> PartitionOfFields(bson::View fields) {
  bson::Builder partition;
  for (const bson::Element& field : fields) {
    if (!field.value.Is(Type::kString)) {
      return Error(ErrorCode::kTypeMismatch, "'partitionByFields' of $fill must hold strings");
    }
    const std::string name(field.value.AsString());
    if (name.starts_with('$')) {
      return Error(Location(6050202), "a field of 'partitionByFields' must not begin with '$': {}",
                   name);
    }
    partition.Append("p" + std::string(field.key), "$" + name);
  }
  return partition.Finish();
}

// Appends partitionBy. Errors: 6050204 for both forms, 6050202 for a field that is a path.
absl::Status AppendPartition(bson::View spec, bson::Builder& window) {
  const bson::Value by = spec["partitionBy"], fields = spec["partitionByFields"];
  if (!by.missing() && !fields.missing()) {
    return Error(Location(6050204), "$fill takes 'partitionBy' or 'partitionByFields', not both");
  }
  if (!by.missing()) {
    if (!by.Is(Type::kObject) && !by.Is(Type::kString)) {
      return Error(ErrorCode::kTypeMismatch, "'partitionBy' of $fill must be a string or object");
    }
    window.Append("partitionBy", by);
  }
  if (fields.missing()) return absl::OkStatus();
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Document partition, PartitionOfFields(fields.AsDocument()));
  window.Append("partitionBy", partition);
  return absl::OkStatus();
}

struct Fills {
  bson::Builder window;  // {field: {$locf: "$field"}}
  bson::Builder values;  // {field: {$ifNull: ["$field", expression]}}
  bool has_window = false;
  bool has_values = false;
  bool linear = false;
};

absl::Status AddFill(const bson::Element& field, Fills* fills) {
  const std::string path = "$" + std::string(field.key);
  if (!field.value.Is(Type::kObject) || field.value.AsDocument().CountFields() != 1) {
    return Error(Location(40415), "'{}' of $fill needs either a 'value' or a 'method'", field.key);
  }
  const auto [name, value] = field.value.AsDocument().Front();
  if (name == "value") {
    fills->has_values = true;
    fills->values.OpenDocument(field.key).OpenArray("$ifNull").Append("0", path).Append("1", value);
    fills->values.Close().Close();
    return absl::OkStatus();
  }
  if (name != "method") {
    return Error(Location(40415), "BSON field '{}' of $fill is an unknown field.", name);
  }
  if (!value.Is(Type::kString)) {
    return Error(ErrorCode::kTypeMismatch, "'method' of $fill must be a string, found {}",
                 expr::TypeName(value.type()));
  }
  const bool linear = value.AsString() == "linear";
  if (!linear && value.AsString() != "locf") {
    return Error(Location(6050202), "Method must be either locf or linear, found {}",
                 value.AsString());
  }
  fills->has_window = true;
  fills->linear = fills->linear || linear;
  fills->window.OpenDocument(field.key).Append(linear ? "$linearFill" : "$locf", path).Close();
  return absl::OkStatus();
}

absl::Status ParseFill(const StageOp&, bson::Value spec, const QueryContext& context,
                       StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(Location(6050200), "The $fill stage specification must be an object, found {}",
                 expr::TypeName(spec.type()));
  }
  const bson::View fields = spec.AsDocument();
  EVENKEEL_RETURN_IF_ERROR(CheckFieldTypes(fields));
  Fills fills;
  for (const bson::Element& field : fields["output"].AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(AddFill(field, &fills));
  }
  if (fills.linear && !fields.Contains("sortBy")) {
    return Error(Location(605001), "$linearFill must be specified with a sortBy of one field");
  }
  bson::Builder window;
  EVENKEEL_RETURN_IF_ERROR(AppendPartition(fields, window));
  if (fills.has_window) {
    window.Append("sortBy", fields["sortBy"]).Append("output", fills.window.Finish());
    EVENKEEL_RETURN_IF_ERROR(AddNamed("$setWindowFields", window.Finish(), context, out));
  }
  if (!fills.has_values) return absl::OkStatus();
  return AddNamed("$addFields", fills.values.Finish(), context, out);
}

constexpr StageOp kRows[] = {
    {.name = "$fill",
     .order = Order::kSorts,
     .bounded_memory = false,
     .split = Split::kMerger,
     .parse = ParseFill,
     .spec = "operator/aggregation/fill",
     .tests = "stages/fill"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> FillStages() { return kRows; }

}  // namespace evenkeel::query::stage
