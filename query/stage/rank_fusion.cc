// $rankFusion; $scoreFusion is known and not supported.
#include "query/exec/rank_fusion.h"

#include <algorithm>
#include <cmath>

#include "base/bson/number.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/pipeline.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

struct Ranking {
  std::string name;
  Pipeline pipeline;
};

class RankFusionStage final : public Stage {
 public:
  RankFusionStage(const StageOp& op, bson::Value spec, std::vector<Ranking> rankings,
                  std::map<std::string, double> weights)
      : Stage(op, spec), rankings_(std::move(rankings)), weights_(std::move(weights)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    std::vector<FacetOperator::Branch> branches;
    for (const Ranking& ranking : rankings_) {
      FacetOperator::Branch branch{.name = ranking.name};
      auto queue = std::make_unique<InputQueue>();
      branch.queue = queue.get();
      EVENKEEL_ASSIGN_OR_RETURN(branch.last, ranking.pipeline.Build(std::move(queue), context));
      branches.push_back(std::move(branch));
    }
    auto facet = std::make_unique<FacetOperator>(std::move(input), std::move(branches), context);
    return std::make_unique<RankFusionOperator>(std::move(facet), weights_, context);
  }

 private:
  std::vector<Ranking> rankings_;
  std::map<std::string, double> weights_;
};

absl::Status WrongType(std::string_view field, bson::Value value, std::string_view wanted) {
  return Error(ErrorCode::kTypeMismatch,
               "BSON field '$rankFusion.{}' is the wrong type '{}', expected type '{}'", field,
               expr::TypeName(value.type()), wanted);
}

bool IsFusion(std::string_view name) { return name == "$rankFusion" || name == "$scoreFusion"; }

// A ranking only chooses and sorts. Errors: 10473002, 10170100, 9191103, 9191100.
absl::Status CheckRanking(bson::View stages) {
  constexpr std::string_view kAllowed[] = {"$limit", "$match", "$sample", "$skip", "$sort"};
  bool first = true, sorts = false;
  for (const bson::Element& element : stages) {
    const std::string_view name = element.value.Is(Type::kObject)
                                      ? element.value.AsDocument().Front().key
                                      : std::string_view();
    if (IsFusion(name)) {
      return Error(Location(first ? 10473002 : 10170100),
                   "{} is not allowed within a pipeline of $rankFusion", name);
    }
    first = false;
    sorts = sorts || name == "$sort";
  }
  for (const bson::Element& element : stages) {
    const std::string_view name = element.value.AsDocument().Front().key;
    if (std::find(std::begin(kAllowed), std::end(kAllowed), name) != std::end(kAllowed)) continue;
    return Error(Location(9191103),
                 "{} is not allowed in a pipeline of $rankFusion: it must only "
                 "choose and rank documents",
                 name);
  }
  if (sorts) return absl::OkStatus();
  return Error(Location(9191100),
               "a pipeline of $rankFusion must begin by ranking or hold a $sort");
}

absl::StatusOr<Ranking> ParseRanking(const bson::Element& field, const QueryContext& context) {
  if (field.key.empty() || field.key.starts_with('$') ||
      field.key.find('.') != std::string_view::npos) {
    return Error(Location(9921000), "'{}' is no name for a pipeline of $rankFusion", field.key);
  }
  if (!field.value.Is(Type::kArray)) return WrongType("input.pipelines", field.value, "array");
  const bson::View stages = field.value.AsDocument();
  for (const bson::Element& element : stages) {
    if (!element.value.Is(Type::kObject) || element.value.AsDocument().CountFields() != 1) {
      // Its own error, before those of a ranking.
      EVENKEEL_RETURN_IF_ERROR(Pipeline::Parse(stages, context).status());
    }
    const std::string_view name = element.value.AsDocument().Front().key;
    if (FindStage(name) == nullptr) {
      return Error(Location(40324), "Unrecognized pipeline stage name: '{}'", name);
    }
  }
  EVENKEEL_RETURN_IF_ERROR(CheckRanking(stages));
  EVENKEEL_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::Parse(stages, context));
  return Ranking{std::string(field.key), std::move(pipeline)};
}

absl::StatusOr<std::vector<Ranking>> ParseInput(bson::Value input, const QueryContext& context) {
  if (input.missing()) {
    return Error(Location(40414), "BSON field '$rankFusion.input' is missing but a required field");
  }
  if (!input.Is(Type::kObject)) return WrongType("input", input, "object");
  const bson::View fields = input.AsDocument();
  for (const bson::Element& field : fields) {
    if (field.key == "pipelines") continue;
    return Error(Location(40415), "BSON field '$rankFusion.input.{}' is an unknown field.",
                 field.key);
  }
  const bson::Value pipelines = fields["pipelines"];
  if (pipelines.missing()) {
    return Error(Location(40414),
                 "BSON field '$rankFusion.input.pipelines' is missing but a required field");
  }
  if (!pipelines.Is(Type::kObject)) return WrongType("input.pipelines", pipelines, "object");
  if (pipelines.AsDocument().empty()) {
    return Error(Location(9834300), "$rankFusion needs at least one pipeline");
  }
  std::vector<Ranking> rankings;
  for (const bson::Element& field : pipelines.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(Ranking ranking, ParseRanking(field, context));
    rankings.push_back(std::move(ranking));
  }
  return rankings;
}

absl::StatusOr<std::map<std::string, double>> ParseWeights(bson::Value combination,
                                                           const std::vector<Ranking>& rankings) {
  std::map<std::string, double> weights;
  if (combination.IsNullish()) return weights;
  if (!combination.Is(Type::kObject)) return WrongType("combination", combination, "object");
  for (const auto& [key, value] : combination.AsDocument()) {
    if (key != "weights") {
      return Error(Location(40415), "BSON field '$rankFusion.combination.{}' is an unknown field.",
                   key);
    }
    if (value.IsNullish()) continue;
    if (!value.Is(Type::kObject)) return WrongType("combination.weights", value, "object");
    if (value.AsDocument().CountFields() > rankings.size()) {
      return Error(Location(9460301), "$rankFusion has more weights than pipelines");
    }
    for (const bson::Element& weight : value.AsDocument()) {
      const bool known = std::any_of(rankings.begin(), rankings.end(),
                                     [&](const Ranking& r) { return r.name == weight.key; });
      if (!known) {
        return Error(Location(9967500), "no pipeline of $rankFusion has the name '{}'", weight.key);
      }
      if (!weight.value.IsNumber()) {
        return Error(Location(13118), "a weight of $rankFusion must be a number, found {}",
                     expr::TypeName(weight.value.type()));
      }
      const double number = bson::ToDouble(weight.value);
      if (!(number >= 0)) {
        return Error(Location(9460300), "a weight of $rankFusion must not be negative");
      }
      weights[std::string(weight.key)] = number;
    }
  }
  return weights;
}

absl::Status ParseRankFusion(const StageOp& op, bson::Value spec, const QueryContext& context,
                             StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "$rankFusion must take an object, found {}",
                 expr::TypeName(spec.type()));
  }
  for (const auto& [key, value] : spec.AsDocument()) {
    if (key == "scoreDetails") {
      if (!value.IsNullish() && !value.Is(Type::kBool)) return WrongType(key, value, "bool");
    } else if (key != "input" && key != "combination") {
      return Error(Location(40415), "BSON field '$rankFusion.{}' is an unknown field.", key);
    }
  }
  EVENKEEL_ASSIGN_OR_RETURN(std::vector<Ranking> rankings,
                            ParseInput(spec.AsDocument()["input"], context));
  using Weights = std::map<std::string, double>;
  EVENKEEL_ASSIGN_OR_RETURN(Weights weights,
                            ParseWeights(spec.AsDocument()["combination"], rankings));
  return AddStage<RankFusionStage>(out, op, spec, std::move(rankings), std::move(weights));
}

constexpr StageOp kRows[] = {
    {.name = "$rankFusion",
     .order = Order::kBreaks,
     .bounded_memory = false,
     .first_only = true,
     .split = Split::kMerger,
     .parse = ParseRankFusion,
     .spec = "operator/aggregation/rankFusion",
     .tests = "stages/rankFusion"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> RankFusionStages() { return kRows; }

}  // namespace evenkeel::query::stage
