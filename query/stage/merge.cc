// $merge. The router carries it out.
#include <algorithm>
#include <utility>

#include "query/expr/expression.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/write_spec.h"

namespace evenkeel::query {
namespace {

using bson::Type;

absl::Status WrongType(ErrorCode code, std::string_view field, bson::Value value) {
  return Error(code, "BSON field '$merge.{}' has the wrong type '{}'", field,
               expr::TypeName(value.type()));
}

absl::Status ReadInto(bson::Value into, MergeSpec* parsed) {
  if (into.Is(Type::kString)) {
    parsed->collection = std::string(into.AsString());
    if (!parsed->collection.empty()) return absl::OkStatus();
    return Error(Location(5786800), "the 'into' of $merge must not be empty");
  }
  if (!into.Is(Type::kObject)) return WrongType(Location(51178), "into", into);
  for (const auto& [key, value] : into.AsDocument()) {
    if (key != "db" && key != "coll") {
      return Error(Location(40415), "BSON field '$merge.into.{}' is an unknown field.", key);
    }
    if (value.IsNullish()) continue;
    if (!value.Is(Type::kString)) return WrongType(ErrorCode::kTypeMismatch, key, value);
    if (key == "db" && value.AsString().empty()) continue;
    (key == "db" ? parsed->database : parsed->collection) = std::string(value.AsString());
  }
  if (!parsed->collection.empty()) return absl::OkStatus();
  return Error(Location(5786801), "the 'into' of $merge must name a collection");
}

absl::Status ReadOn(bson::Value on, MergeSpec* parsed) {
  if (on.Is(Type::kString)) {
    parsed->on.emplace_back(on.AsString());
    return absl::OkStatus();
  }
  if (!on.Is(Type::kArray)) return WrongType(Location(51186), "on", on);
  if (on.AsDocument().empty()) {
    return Error(Location(51187), "the 'on' of $merge must not be an empty array");
  }
  for (const bson::Element& element : on.AsDocument()) {
    if (!element.value.Is(Type::kString)) return WrongType(Location(51134), "on", element.value);
    std::string name(element.value.AsString());
    if (std::find(parsed->on.begin(), parsed->on.end(), name) != parsed->on.end()) {
      return Error(Location(31465), "'on' of $merge names {} twice", name);
    }
    parsed->on.push_back(std::move(name));
  }
  return absl::OkStatus();
}

// Which stages an update may have is said by the update.
absl::Status CheckPipeline(bson::View stages) {
  for (const bson::Element& element : stages) {
    if (element.value.Is(Type::kObject)) continue;
    return WrongType(ErrorCode::kTypeMismatch, "whenMatched", element.value);
  }
  return absl::OkStatus();
}

absl::Status ReadWhenMatched(bson::Value value, MergeSpec* parsed) {
  if (value.Is(Type::kArray)) {
    parsed->when_matched = WhenMatched::kPipeline;
    parsed->pipeline = value.AsDocument();
    return CheckPipeline(parsed->pipeline);
  }
  if (!value.Is(Type::kString)) return WrongType(Location(51191), "whenMatched", value);
  constexpr std::pair<std::string_view, WhenMatched> kNames[] = {
      {"replace", WhenMatched::kReplace},
      {"keepExisting", WhenMatched::kKeepExisting},
      {"merge", WhenMatched::kMerge},
      {"fail", WhenMatched::kFail}};
  for (const auto& [name, mode] : kNames) {
    if (name != value.AsString()) continue;
    parsed->when_matched = mode;
    return absl::OkStatus();
  }
  return Error(ErrorCode::kBadValue, "'{}' is no value of 'whenMatched'", value.AsString());
}

absl::Status ReadWhenNotMatched(bson::Value value, MergeSpec* parsed) {
  if (value.IsNullish()) return absl::OkStatus();
  if (!value.Is(Type::kString)) {
    return WrongType(ErrorCode::kTypeMismatch, "whenNotMatched", value);
  }
  constexpr std::pair<std::string_view, WhenNotMatched> kNames[] = {
      {"insert", WhenNotMatched::kInsert},
      {"discard", WhenNotMatched::kDiscard},
      {"fail", WhenNotMatched::kFail}};
  for (const auto& [name, mode] : kNames) {
    if (name != value.AsString()) continue;
    parsed->when_not_matched = mode;
    return absl::OkStatus();
  }
  return Error(ErrorCode::kBadValue, "'{}' is no value of 'whenNotMatched'", value.AsString());
}

absl::Status ReadField(const bson::Element& field, MergeSpec* parsed, bool* has_let) {
  const bson::Value value = field.value;
  if (field.key == "into") return ReadInto(value, parsed);
  if (field.key == "on") return ReadOn(value, parsed);
  if (field.key == "whenMatched") return ReadWhenMatched(value, parsed);
  if (field.key == "whenNotMatched") return ReadWhenNotMatched(value, parsed);
  if (field.key == "let") {
    if (value.IsNullish()) return absl::OkStatus();
    if (!value.Is(Type::kObject)) return WrongType(ErrorCode::kTypeMismatch, "let", value);
    *has_let = true;
    parsed->let = value.AsDocument();
    return absl::OkStatus();
  }
  return Error(Location(40415), "BSON field '$merge.{}' is an unknown field.", field.key);
}

absl::Status CheckModes(const MergeSpec& parsed, bool has_let) {
  const bool writes_nothing = (parsed.when_matched == WhenMatched::kFail ||
                               parsed.when_matched == WhenMatched::kKeepExisting) &&
                              parsed.when_not_matched != WhenNotMatched::kInsert;
  if (writes_nothing) {
    return Error(Location(51181),
                 "this combination of 'whenMatched' and 'whenNotMatched' is not supported");
  }
  if (has_let && parsed.when_matched != WhenMatched::kPipeline) {
    return Error(Location(51199), "'let' of $merge needs a pipeline as 'whenMatched'");
  }
  return absl::OkStatus();
}

absl::Status CheckTarget(const MergeSpec& parsed) {
  if (parsed.collection.empty()) {
    return Error(ErrorCode::kInvalidNamespace, "the target of $merge must not be empty");
  }
  if (parsed.collection.starts_with("system.")) {
    return Error(Location(31319), "Cannot $merge to special collection: {}", parsed.collection);
  }
  if (parsed.database == "admin" || parsed.database == "config" || parsed.database == "local") {
    return Error(Location(31320), "Cannot $merge to internal database: {}", parsed.database);
  }
  return absl::OkStatus();
}

class MergeStage final : public Stage {
 public:
  using Stage::Stage;
  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator>,
                                                  const QueryContext&) const override {
    return Error(ErrorCode::kInternalError, "$merge is carried out by the router");
  }
};

absl::Status ParseMergeStage(const stage::StageOp& op, bson::Value spec,
                             const QueryContext& context, stage::StageList* out) {
  EVENKEEL_RETURN_IF_ERROR(ParseMerge(spec, context).status());
  return stage::AddStage<MergeStage>(out, op, spec);
}

}  // namespace

absl::StatusOr<MergeSpec> ParseMerge(bson::Value spec, const QueryContext& context) {
  MergeSpec parsed;
  parsed.database = context.ns.substr(0, context.ns.find('.'));
  if (spec.Is(Type::kString)) {
    parsed.collection = std::string(spec.AsString());
    EVENKEEL_RETURN_IF_ERROR(CheckTarget(parsed));
    return parsed;
  }
  if (!spec.Is(Type::kObject)) return WrongType(ErrorCode::kTypeMismatch, "", spec);
  bool has_let = false;
  for (const bson::Element& field : spec.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(ReadField(field, &parsed, &has_let));
  }
  if (spec.AsDocument()["into"].missing()) {
    return Error(Location(40414), "BSON field '$merge.into' is missing but a required field");
  }
  EVENKEEL_RETURN_IF_ERROR(CheckTarget(parsed));
  EVENKEEL_RETURN_IF_ERROR(CheckModes(parsed, has_let));
  for (const auto& [name, value] : parsed.let) {
    EVENKEEL_RETURN_IF_ERROR(CheckVariableName(name));
    EVENKEEL_RETURN_IF_ERROR(Expression::Parse(value, context).status());
  }
  return parsed;
}

namespace stage {
namespace {

constexpr StageOp kRows[] = {
    {.name = "$merge",
     .where = Where::kRouter,
     .writes = true,
     .allowed_in_txn = false,
     .last_only = true,
     .allowed_in_facet = false,
     .split = Split::kMerger,
     .parse = ParseMergeStage,
     .spec = "operator/aggregation/merge",
     .tests = "stages/merge"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> MergeStages() { return kRows; }

}  // namespace stage
}  // namespace evenkeel::query
