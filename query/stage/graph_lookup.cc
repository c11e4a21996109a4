// $graphLookup.
#include "query/exec/graph_lookup.h"
#include "base/bson/number.h"
#include "query/expr/field_path.h"
#include "query/expr/kernel.h"
#include "query/match/filter.h"
#include "query/stage/colocation.h"
#include "query/stage/groups.h"
#include "query/stage/sub_pipeline.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

class GraphLookupStage final : public Stage {
 public:
  GraphLookupStage(const StageOp& op, bson::Value spec, GraphLookupSpec parsed)
      : Stage(op, spec), parsed_(std::move(parsed)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<GraphLookupOperator>(std::move(input), parsed_, context);
  }
  bool MatchMayPass(const std::vector<std::string>& paths) const override {
    return !AnyOverlap(paths, parsed_.as.dotted());
  }
  Reads AddReads(const QueryContext&, Dependencies* reads) const override {
    parsed_.start_with->AddDependencies(*reads);
    return Reads::kSome;
  }
  std::string_view ForeignNamespace() const override { return parsed_.ns; }
  // What a document refers to lies anywhere among several shards.
  bool JoinOnShards(const Colocation& colocation) override {
    on_shards_ = colocation.Whole(parsed_.ns);
    return on_shards_;
  }
  bool NeedsRouter() const override { return !on_shards_; }

 private:
  GraphLookupSpec parsed_;
  bool on_shards_ = false;
};

absl::Status ReadMaxDepth(bson::Value value, GraphLookupSpec* parsed) {
  if (!value.IsNumber()) {
    return Error(Location(40100), "maxDepth must be numeric, found type: {}",
                 expr::TypeName(value.type()));
  }
  if (bson::ToDouble(value) < 0)
    return Error(Location(40101),
                 "maxDepth requires a nonnegative "
                 "argument");
  const std::optional<int64_t> depth = bson::ToInt64Exact(value);
  if (!depth) {
    return Error(Location(40102), "maxDepth could not be represented as a long long");
  }
  parsed->max_depth = *depth;
  return absl::OkStatus();
}

absl::Status ReadPath(const bson::Element& field, GraphLookupSpec* parsed,
                      const QueryContext& context) {
  if (field.key != "from" && field.key != "as" && field.key != "connectFromField" &&
      field.key != "connectToField" && field.key != "depthField") {
    return Error(Location(40104), "Unknown argument to $graphLookup: {}", field.key);
  }
  if (!field.value.Is(Type::kString)) {
    const ErrorCode code =
        field.key == "from" ? ErrorCode::kFailedToParse : ErrorCode(Location(40103));
    return Error(code, "expected string as argument for {}, found: {}", field.key,
                 expr::TypeName(field.value.type()));
  }
  const std::string_view text = field.value.AsString();
  if (field.key == "from") {
    if (text.empty()) {
      return Error(ErrorCode::kInvalidNamespace, "the 'from' of $graphLookup must not be empty");
    }
    parsed->ns = SiblingNamespace(context, text);
    return absl::OkStatus();
  }
  EVENKEEL_RETURN_IF_ERROR(expr::CheckFieldPath(text));
  bson::Path path(text);
  if (field.key == "as")
    parsed->as = std::move(path);
  else if (field.key == "connectFromField")
    parsed->connect_from = std::move(path);
  else if (field.key == "connectToField")
    parsed->connect_to = std::move(path);
  else
    parsed->depth_field = std::move(path);
  return absl::OkStatus();
}

absl::Status ReadField(const bson::Element& field, const QueryContext& context,
                       GraphLookupSpec* parsed) {
  if (field.key == "startWith") {
    EVENKEEL_ASSIGN_OR_RETURN(parsed->start_with, Expression::Parse(field.value, context));
    return absl::OkStatus();
  }
  if (field.key == "maxDepth") return ReadMaxDepth(field.value, parsed);
  if (field.key != "restrictSearchWithMatch") return ReadPath(field, parsed, context);
  if (!field.value.Is(Type::kObject)) {
    return Error(Location(40185), "restrictSearchWithMatch must be an object, found {}",
                 expr::TypeName(field.value.type()));
  }
  EVENKEEL_RETURN_IF_ERROR(Filter::Parse(field.value.AsDocument(), context).status());
  parsed->restrict_to = bson::Document(field.value.AsDocument());
  return absl::OkStatus();
}

absl::Status ParseGraphLookup(const StageOp& op, bson::Value spec, const QueryContext& context,
                              StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(ErrorCode::kFailedToParse,
                 "the $graphLookup stage specification must be an object, but found {}",
                 expr::TypeName(spec.type()));
  }
  GraphLookupSpec parsed;
  for (const bson::Element& field : spec.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(ReadField(field, context, &parsed));
  }
  if (parsed.ns.empty()) {
    return Error(ErrorCode::kFailedToParse, "must specify 'from' field for a $graphLookup");
  }
  if (parsed.as.size() == 0 || parsed.start_with == nullptr || parsed.connect_from.size() == 0 ||
      parsed.connect_to.size() == 0) {
    return Error(Location(40105),
                 "$graphLookup requires 'as', 'startWith', 'connectFromField', and "
                 "'connectToField' to be specified.");
  }
  return AddStage<GraphLookupStage>(out, op, spec, std::move(parsed));
}

constexpr StageOp kRows[] = {
    {.name = "$graphLookup",
     .where = Where::kRouter,
     .bounded_memory = false,
     .parse = ParseGraphLookup,
     .spec = "operator/aggregation/graphLookup",
     .tests = "stages/graphLookup"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> GraphLookupStages() { return kRows; }

}  // namespace evenkeel::query::stage
