// $rankFusion and $scoreFusion.
#include "query/exec/fusion.h"

#include <algorithm>
#include <cmath>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/meta_links.h"
#include "query/stage/pipeline.h"
#include "query/stage/score_options.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

constexpr std::string_view kRankName = "$rankFusion";

struct Input {
  std::string name;
  Pipeline pipeline;
};

class FusionStage final : public Stage {
 public:
  FusionStage(const StageOp& op, bson::Value spec, std::vector<Input> inputs, FusionSpec parsed)
      : Stage(op, spec), inputs_(std::move(inputs)), parsed_(std::move(parsed)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    std::vector<FacetOperator::Branch> branches;
    for (const Input& one : inputs_) {
      FacetOperator::Branch branch{.name = one.name};
      auto queue = std::make_unique<InputQueue>();
      branch.queue = queue.get();
      EVENKEEL_ASSIGN_OR_RETURN(branch.last, one.pipeline.Build(std::move(queue), context));
      branches.push_back(std::move(branch));
    }
    auto facet = std::make_unique<FacetOperator>(std::move(input), std::move(branches), context);
    return std::make_unique<FusionOperator>(std::move(facet), parsed_, context);
  }

 private:
  std::vector<Input> inputs_;
  FusionSpec parsed_;
};

// Reads one specification; the errors name its stage and field.
class FusionParser {
 public:
  FusionParser(const StageOp& op, const QueryContext& context)
      : op_(op), by_rank_(op.name == kRankName), context_(context) {}

  absl::Status Parse(bson::Value spec, StageList* out) {
    if (!spec.Is(Type::kObject)) {
      return Error(ErrorCode::kFailedToParse, "{} must take an object, found {}", op_.name,
                   expr::TypeName(spec.type()));
    }
    parsed_.by_rank = by_rank_;
    for (const auto& [key, value] : spec.AsDocument()) {
      if (key == "scoreDetails") {
        if (!value.IsNullish() && !value.Is(Type::kBool)) return WrongType(key, value, "bool");
        parsed_.details = bson::Truthy(value);
      } else if (key == kKeepScoreOption) {
        parsed_.keep_score = bson::Truthy(value);
      } else if (key != "input" && key != "combination") {
        return UnknownField(key);
      }
    }
    EVENKEEL_RETURN_IF_ERROR(ParseInput(spec.AsDocument()["input"]));
    EVENKEEL_RETURN_IF_ERROR(ParseCombination(spec.AsDocument()["combination"]));
    return AddStage<FusionStage>(out, op_, spec, std::move(inputs_), std::move(parsed_));
  }

 private:
  absl::Status WrongType(std::string_view field, bson::Value value, std::string_view wanted) const {
    return Error(ErrorCode::kTypeMismatch,
                 "BSON field '{}.{}' is the wrong type '{}', expected type '{}'", op_.name, field,
                 expr::TypeName(value.type()), wanted);
  }
  absl::Status UnknownField(std::string_view field) const {
    return Error(Location(40415), "BSON field '{}.{}' is an unknown field.", op_.name, field);
  }
  absl::Status MissingField(std::string_view field) const {
    return Error(Location(40414), "BSON field '{}.{}' is missing but a required field", op_.name,
                 field);
  }

  absl::Status ParseInput(bson::Value input) {
    if (input.missing()) return MissingField("input");
    if (!input.Is(Type::kObject)) return WrongType("input", input, "object");
    const bson::View fields = input.AsDocument();
    for (const bson::Element& field : fields) {
      const bool known = field.key == "pipelines" || (!by_rank_ && field.key == "normalization");
      if (!known) return UnknownField(std::string("input.").append(field.key));
    }
    const bson::Value pipelines = fields["pipelines"];
    if (pipelines.missing()) return MissingField("input.pipelines");
    if (!pipelines.Is(Type::kObject)) return WrongType("input.pipelines", pipelines, "object");
    if (pipelines.AsDocument().empty()) {
      return Error(Location(9834300), "{} needs at least one pipeline", op_.name);
    }
    for (const bson::Element& field : pipelines.AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(ParsePipeline(field));
    }
    if (by_rank_) return absl::OkStatus();
    const bson::Value normalization = fields["normalization"];
    if (normalization.missing()) return MissingField("input.normalization");
    EVENKEEL_ASSIGN_OR_RETURN(parsed_.normalization, ParseNormalization(normalization, op_.name));
    return absl::OkStatus();
  }

  absl::Status ParsePipeline(const bson::Element& field) {
    if (field.key.empty() || field.key.starts_with('$') ||
        field.key.find('.') != std::string_view::npos) {
      return Error(Location(9921000), "'{}' is no name for a pipeline of {}", field.key, op_.name);
    }
    if (!field.value.Is(Type::kArray)) return WrongType("input.pipelines", field.value, "array");
    const bson::View stages = field.value.AsDocument();
    for (const bson::Element& element : stages) {
      if (!element.value.Is(Type::kObject) || element.value.AsDocument().CountFields() != 1) {
        // Its own error, before those of an input.
        EVENKEEL_RETURN_IF_ERROR(Pipeline::Parse(stages, context_).status());
      }
      const std::string_view name = element.value.AsDocument().Front().key;
      if (FindStage(name) == nullptr) {
        return Error(Location(40324), "Unrecognized pipeline stage name: '{}'", name);
      }
    }
    EVENKEEL_RETURN_IF_ERROR(CheckPipeline(stages));
    EVENKEEL_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::Parse(Scoring(stages), context_));
    inputs_.push_back({std::string(field.key), std::move(pipeline)});
    parsed_.inputs.push_back({std::string(field.key)});
    return absl::OkStatus();
  }

  // An input only chooses, and ranks or scores. Errors: 10473002, 10170100, 9191103, 9191100.
  absl::Status CheckPipeline(bson::View stages) const {
    constexpr std::string_view kAllowed[] = {"$limit", "$match", "$sample", "$skip", "$sort"};
    bool first = true, ordered = false;
    for (const bson::Element& element : stages) {
      const std::string_view name = element.value.AsDocument().Front().key;
      if (name == kRankName || name == "$scoreFusion") {
        return Error(Location(first ? 10473002 : 10170100),
                     "{} is not allowed within a pipeline of {}", name, op_.name);
      }
      first = false;
      ordered = ordered || name == (by_rank_ ? "$sort" : "$score");
    }
    for (const bson::Element& element : stages) {
      const std::string_view name = element.value.AsDocument().Front().key;
      if (!by_rank_ && name == "$score") continue;
      if (std::find(std::begin(kAllowed), std::end(kAllowed), name) != std::end(kAllowed)) continue;
      return Error(Location(9191103),
                   "{} is not allowed in a pipeline of {}: it must only choose and {} documents",
                   name, op_.name, by_rank_ ? "rank" : "score");
    }
    if (ordered) return absl::OkStatus();
    return by_rank_ ? Error(Location(9191100),
                            "a pipeline of $rankFusion must begin by ranking or hold a $sort")
                    : Error(Location(9402500), "a pipeline of $scoreFusion must hold a $score");
  }

  // The stages with scores kept to their end.
  bson::Document Scoring(bson::View stages) const {
    bson::Builder out;
    bson::ArrayAppender array(out);
    for (const bson::Element& stage : stages) {
      const bson::Element only = stage.value.AsDocument().Front();
      if (by_rank_ || only.key != "$score" || !only.value.Is(Type::kObject)) {
        array.Add(stage.value);
        continue;
      }
      out.OpenDocument(array.NextKey()).OpenDocument(only.key);
      out.AppendFields(only.value.AsDocument());
      out.Append(kKeepScoreOption, true).Close().Close();
    }
    return out.Finish();
  }

  absl::Status ParseCombination(bson::Value combination) {
    parsed_.method = "avg";
    if (combination.IsNullish()) return absl::OkStatus();
    if (!combination.Is(Type::kObject)) return WrongType("combination", combination, "object");
    const bson::View fields = combination.AsDocument();
    for (const bson::Element& field : fields) {
      const bool known = field.key == "weights" ||
                         (!by_rank_ && (field.key == "method" || field.key == "expression"));
      if (!known) return UnknownField(std::string("combination.").append(field.key));
    }
    EVENKEEL_RETURN_IF_ERROR(ParseWeights(fields["weights"]));
    return by_rank_ ? absl::OkStatus() : ParseMethod(fields["method"], fields["expression"]);
  }

  absl::Status ParseWeights(bson::Value weights) {
    if (weights.IsNullish()) return absl::OkStatus();
    if (!weights.Is(Type::kObject)) return WrongType("combination.weights", weights, "object");
    if (weights.AsDocument().CountFields() > inputs_.size()) {
      return Error(Location(9460301), "{} has more weights than pipelines", op_.name);
    }
    for (const bson::Element& weight : weights.AsDocument()) {
      const std::string_view name = weight.key;
      const bson::Value value = weight.value;
      const auto input = std::find_if(parsed_.inputs.begin(), parsed_.inputs.end(),
                                      [name](const auto& one) { return one.name == name; });
      if (input == parsed_.inputs.end()) {
        return Error(Location(9967500), "no pipeline of {} has the name '{}'", op_.name, name);
      }
      if (!value.IsNumber()) {
        return Error(Location(13118), "a weight of {} must be a number, found {}", op_.name,
                     expr::TypeName(value.type()));
      }
      input->weight = bson::ToDouble(value);
      if (!(input->weight >= 0)) {
        return Error(Location(9460300), "a weight of {} must not be negative", op_.name);
      }
    }
    return absl::OkStatus();
  }

  absl::Status ParseMethod(bson::Value method, bson::Value expression) {
    if (!method.IsNullish() && !method.Is(Type::kString)) {
      return WrongType("combination.method", method, "string");
    }
    if (method.Is(Type::kString)) parsed_.method = std::string(method.AsString());
    if (parsed_.method != "avg" && parsed_.method != "expression") {
      return Error(ErrorCode::kBadValue,
                   "Enumeration value '{}' for field '$scoreFusion.combination.method' is not a "
                   "valid value.",
                   parsed_.method);
    }
    const bool by_expression = parsed_.method == "expression";
    if (by_expression == expression.missing()) {
      return Error(ErrorCode::kFailedToParse,
                   "combination.expression of $scoreFusion belongs to the method 'expression'");
    }
    if (!by_expression) return absl::OkStatus();
    // The pipelines' scores are variables.
    bson::Builder let;
    let.OpenDocument("$let").OpenDocument("vars");
    for (const FusionSpec::Input& input : parsed_.inputs) {
      if (CheckVariableName(input.name).ok()) let.Append(input.name, "$" + input.name);
    }
    let.Close().Append("in", expression).Close();
    const bson::Document document = let.Finish();
    EVENKEEL_ASSIGN_OR_RETURN(
        parsed_.expression,
        Expression::Parse(bson::Value(Type::kObject, document.view().data()), context_));
    parsed_.expression_text = bson::ToDisplay(expression);
    return absl::OkStatus();
  }

  const StageOp& op_;
  const bool by_rank_;
  const QueryContext& context_;
  std::vector<Input> inputs_;
  FusionSpec parsed_;
};

absl::Status ParseFusion(const StageOp& op, bson::Value spec, const QueryContext& context,
                         StageList* out) {
  return FusionParser(op, context).Parse(spec, out);
}

constexpr StageOp kRows[] = {
    {.name = kRankName,
     .order = Order::kBreaks,
     .bounded_memory = false,
     .first_only = true,
     .split = Split::kMerger,
     .parse = ParseFusion,
     .spec = "operator/aggregation/rankFusion",
     .tests = "stages/rankFusion"},
    {.name = "$scoreFusion",
     .order = Order::kBreaks,
     .bounded_memory = false,
     .first_only = true,
     .split = Split::kMerger,
     .parse = ParseFusion,
     .spec = "operator/aggregation/scoreFusion",
     .tests = "stages/scoreFusion"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> FusionStages() { return kRows; }

}  // namespace evenkeel::query::stage
