// $lookup.
#include "query/exec/lookup.h"
#include "base/bson/builder.h"
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/stage/colocation.h"
#include "query/stage/groups.h"
#include "query/stage/sub_pipeline.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

constexpr std::string_view kUnwindingName = "$_lookupUnwinding";

class LookupStage final : public Stage {
 public:
  LookupStage(const StageOp& op, bson::Value spec, LookupSpec parsed)
      : Stage(op, spec), parsed_(std::move(parsed)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<LookupOperator>(std::move(input), parsed_, context);
  }
  bool MatchMayPass(const std::vector<std::string>& paths) const override {
    return !AnyOverlap(paths, parsed_.as.dotted());
  }
  Reads AddReads(const QueryContext&, Dependencies* reads) const override {
    if (parsed_.by_field()) reads->paths.insert(std::string(parsed_.local.dotted()));
    for (const LookupSpec::Variable& variable : parsed_.let)
      variable.value->AddDependencies(*reads);
    return Reads::kSome;
  }
  bool TakeUnwind(const Stage& unwind) override {
    const UnwindOptions& options = *unwind.Unwinds();
    if (parsed_.unwind || options.path.size() != 1) return false;
    if (options.path.dotted() != parsed_.as.dotted()) return false;
    parsed_.unwind = options;
    unwinding_ = bson::OwnedValue(unwind.spec());
    return true;
  }
  std::string_view ForeignNamespace() const override { return parsed_.ns; }
  bool JoinOnShards(const Colocation& colocation) override {
    const bool together =
        colocation.Whole(parsed_.ns) ||
        (parsed_.by_field() &&
         colocation.ByKey(parsed_.ns, parsed_.local.dotted(), parsed_.foreign.dotted()));
    on_shards_ = together && ReadsOnlyItsInput(parsed_.pipeline);
    return on_shards_;
  }
  bool NeedsRouter() const override { return !on_shards_; }
  void Write(StageWriter& out) const override {
    if (!parsed_.unwind) return Stage::Write(out);
    bson::Builder spec;
    spec.Append("lookup", this->spec()).Append("unwinding", unwinding_);
    const bson::Document document = spec.Finish();
    out.Add(kUnwindingName, bson::Value(Type::kObject, document.view().data()));
  }

 private:
  LookupSpec parsed_;
  bool on_shards_ = false;
  bson::OwnedValue unwinding_;  // the spec of the $unwind that was taken over
};

// The fields of the specification as they were given.
struct Fields {
  bson::Value from, as, local, foreign, let, pipeline;
  std::string_view unknown;  // the name of a field that does not belong here
};

// Null and "" are as if they were not given, where a pipeline stands instead.
bool IsBlank(bson::Value value) {
  return value.IsNullish() || (value.Is(Type::kString) && value.AsString().empty());
}

// A path into documents, which may go through a DBRef.
absl::Status CheckPath(bson::Value path) {
  const std::string_view text = path.AsString();
  for (const std::string_view name : {"$ref", "$id", "$db"}) {
    if (text.ends_with(name)) return absl::OkStatus();
  }
  return expr::CheckFieldPath(text);
}

absl::Status ReadField(const bson::Element& field, Fields* fields) {
  const bson::Value value = field.value;
  if (field.key == "pipeline") {
    fields->pipeline = value;
    if (value.Is(Type::kArray)) return absl::OkStatus();
    return Error(ErrorCode::kTypeMismatch, "'pipeline' option must be specified as an array");
  }
  if (field.key == "let") {
    if (value.IsNullish()) return absl::OkStatus();
    fields->let = value;
    if (value.Is(Type::kObject)) return absl::OkStatus();
    return Error(ErrorCode::kTypeMismatch, "$lookup argument 'let: {}' must be an object",
                 expr::TypeName(value.type()));
  }
  bson::Value* slot = field.key == "from"           ? &fields->from
                      : field.key == "as"           ? &fields->as
                      : field.key == "localField"   ? &fields->local
                      : field.key == "foreignField" ? &fields->foreign
                                                    : nullptr;
  if (slot == nullptr && field.key.starts_with("_internal")) return absl::OkStatus();
  if (slot == nullptr) {
    fields->unknown = field.key;
    return absl::OkStatus();
  }
  *slot = value;
  if (value.IsNullish() && (slot == &fields->local || slot == &fields->foreign)) {
    return absl::OkStatus();
  }
  if (value.Is(Type::kString)) return absl::OkStatus();
  return Error(ErrorCode::kFailedToParse, "$lookup argument '{}' must be a string, is type {}",
               field.key, expr::TypeName(value.type()));
}

absl::StatusOr<Fields> ReadFields(bson::Value spec) {
  if (!spec.Is(Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "the $lookup specification must be an object, not {}",
                 expr::TypeName(spec.type()));
  }
  Fields fields;
  for (const bson::Element& field : spec.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(ReadField(field, &fields));
  }
  if (fields.as.missing()) {
    return Error(ErrorCode::kFailedToParse, "must specify 'as' field for a $lookup");
  }
  if (!fields.pipeline.missing() && IsBlank(fields.local) && IsBlank(fields.foreign)) {
    fields.local = fields.foreign = bson::Value();
  }
  if (fields.local.Is(Type::kNull) || fields.foreign.Is(Type::kNull)) {
    return Error(ErrorCode::kFailedToParse,
                 "$lookup arguments 'localField' and 'foreignField' must be strings");
  }
  const bool any = !fields.local.missing() || !fields.foreign.missing();
  if (fields.pipeline.missing() && !fields.let.missing()) {
    return Error(ErrorCode::kFailedToParse, "$lookup with 'let' must also specify 'pipeline'");
  }
  if ((any || fields.pipeline.missing()) && (fields.local.missing() || fields.foreign.missing())) {
    return Error(ErrorCode::kFailedToParse,
                 "$lookup requires both or neither of 'localField' and 'foreignField', and one of "
                 "them or 'pipeline'");
  }
  return fields;
}

// The namespace; without `from` the pipeline makes its own documents.
absl::Status ReadSource(const Fields& fields, const QueryContext& context, LookupSpec* parsed) {
  if (!fields.from.missing()) {
    if (fields.from.AsString().empty()) {
      return Error(ErrorCode::kInvalidNamespace, "the 'from' of $lookup must not be empty");
    }
    parsed->ns = SiblingNamespace(context, fields.from.AsString());
    return absl::OkStatus();
  }
  const bson::Element first =
      fields.pipeline.missing() ? bson::Element() : fields.pipeline.AsDocument().Front();
  const bool documents =
      first.value.Is(Type::kObject) && first.value.AsDocument().Front().key == "$documents";
  if (!documents) {
    return Error(ErrorCode::kFailedToParse,
                 "must specify 'from' field for a $lookup, or begin 'pipeline' with $documents");
  }
  parsed->ns = SiblingNamespace(context, "$cmd.aggregate");
  return absl::OkStatus();
}

absl::Status ReadPaths(const Fields& fields, LookupSpec* parsed) {
  EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(fields.as.AsString()));
  parsed->as = bson::Path(fields.as.AsString());
  if (fields.local.missing()) return absl::OkStatus();
  EVENKEEL_RETURN_IF_ERROR(CheckPath(fields.local));
  EVENKEEL_RETURN_IF_ERROR(CheckPath(fields.foreign));
  parsed->local = bson::Path(fields.local.AsString());
  parsed->foreign = bson::Path(fields.foreign.AsString());
  return absl::OkStatus();
}

absl::Status ParseLookup(const StageOp& op, bson::Value spec, const QueryContext& context,
                         StageList* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const Fields fields, ReadFields(spec));
  LookupSpec parsed;
  EVENKEEL_RETURN_IF_ERROR(ReadSource(fields, context, &parsed));
  if (!fields.unknown.empty()) {
    return Error(Location(40415), "unknown argument to $lookup: {}", fields.unknown);
  }
  EVENKEEL_RETURN_IF_ERROR(ReadPaths(fields, &parsed));
  std::vector<std::string_view> names;
  if (!fields.let.missing()) {
    for (const auto& [name, value] : fields.let.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(CheckVariableName(name));
      EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr expression, Expression::Parse(value, context));
      names.push_back(name);
      parsed.let.push_back({std::string(name), std::move(expression)});
    }
  }
  if (!fields.pipeline.missing()) {
    parsed.has_pipeline = true;
    parsed.pipeline = bson::Document(fields.pipeline.AsDocument());
    EVENKEEL_RETURN_IF_ERROR(
        CheckSubPipeline(fields.pipeline.AsDocument(), names, Location(51047), context));
  }
  return AddStage<LookupStage>(out, op, spec, std::move(parsed));
}

// {lookup: spec, unwinding: spec}.
absl::Status ParseUnwinding(const StageOp& op, bson::Value spec, const QueryContext& context,
                            StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "{} must be an object", op.name);
  }
  for (const auto& [name, part] :
       {std::pair("$lookup", "lookup"), std::pair("$unwind", "unwinding")}) {
    const StageOp* row = FindStage(name);
    EVENKEEL_RETURN_IF_ERROR(row->parse(*row, spec.AsDocument()[part], context, out));
  }
  const std::unique_ptr<Stage> unwind = std::move(out->back());
  out->pop_back();
  if (out->back()->TakeUnwind(*unwind)) return absl::OkStatus();
  return Error(ErrorCode::kFailedToParse, "the parts of {} do not fit", op.name);
}

constexpr StageOp kRows[] = {
    {.name = kUnwindingName,
     .where = Where::kRouter,
     .bounded_memory = false,
     .internal = true,
     .parse = ParseUnwinding,
     .spec = "operator/aggregation/lookup",
     .tests = "stages/lookup"},
    {.name = "$lookup",
     .where = Where::kRouter,
     .bounded_memory = false,
     .parse = ParseLookup,
     .spec = "operator/aggregation/lookup",
     .tests = "stages/lookup"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> LookupStages() { return kRows; }

}  // namespace evenkeel::query::stage
