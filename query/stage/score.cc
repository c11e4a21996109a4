// $score.
#include <cmath>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/exec/scores.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"
#include "query/stage/meta_links.h"
#include "query/stage/score_options.h"

namespace evenkeel::query::stage {
namespace {

using bson::Type;

class ScoreStage final : public Stage {
 public:
  ScoreStage(const StageOp& op, bson::Value spec, ScoreSpec parsed, bool keep)
      : Stage(op, spec), parsed_(std::move(parsed)), keep_(keep) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    auto scored = std::make_unique<ScoreOperator>(std::move(input), parsed_, context);
    if (keep_) return scored;
    return std::make_unique<DropScoresOperator>(std::move(scored));
  }

 private:
  ScoreSpec parsed_;
  const bool keep_;
};

absl::Status WrongType(std::string_view field, bson::Value value, std::string_view wanted) {
  return Error(ErrorCode::kTypeMismatch,
               "BSON field '$score.{}' is the wrong type '{}', expected type '{}'", field,
               expr::TypeName(value.type()), wanted);
}

absl::Status ReadOption(const bson::Element& field, ScoreSpec* parsed, bool* keep) {
  const auto& [key, value] = field;
  if (key == kKeepScoreOption) {
    *keep = bson::Truthy(value);
  } else if (key == "scoreDetails") {
    if (!value.IsNullish() && !value.Is(Type::kBool)) return WrongType(key, value, "bool");
    parsed->details = bson::Truthy(value);
  } else if (key == "normalization") {
    EVENKEEL_ASSIGN_OR_RETURN(parsed->normalization, ParseNormalization(value, "$score"));
  } else if (key == "weight") {
    if (!value.IsNumber()) return WrongType(key, value, "number");
    parsed->weight = bson::ToDouble(value);
    if (!(parsed->weight >= 0 && parsed->weight <= 1)) {
      return Error(ErrorCode::kBadValue, "the weight of $score must lie between 0 and 1");
    }
  } else if (key != "score") {
    return Error(Location(40415), "BSON field '$score.{}' is an unknown field.", key);
  }
  return absl::OkStatus();
}

absl::Status ParseScore(const StageOp& op, bson::Value spec, const QueryContext& context,
                        StageList* out) {
  if (!spec.Is(Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "the $score stage must be an object, found {}",
                 expr::TypeName(spec.type()));
  }
  ScoreSpec parsed;
  bool keep = false;
  for (const bson::Element& field : spec.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(ReadOption(field, &parsed, &keep));
  }
  const bson::Value score = spec.AsDocument()["score"];
  if (score.missing()) {
    return Error(Location(40414), "BSON field '$score.score' is missing but a required field");
  }
  EVENKEEL_ASSIGN_OR_RETURN(parsed.score, Expression::Parse(score, context));
  parsed.expression = bson::ToDisplay(score);
  return AddStage<ScoreStage>(out, op, spec, std::move(parsed), keep);
}

// On the merger, where what reads the scores is, too.
constexpr StageOp kRows[] = {
    {.name = "$score",
     .bounded_memory = false,
     .split = Split::kMerger,
     .parse = ParseScore,
     .spec = "operator/aggregation/score",
     .tests = "stages/score"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

absl::StatusOr<Normalization> ParseNormalization(bson::Value value, std::string_view stage) {
  if (!value.Is(Type::kString)) {
    return Error(ErrorCode::kTypeMismatch,
                 "BSON field '{}.normalization' is the wrong type '{}', expected type 'string'",
                 stage, expr::TypeName(value.type()));
  }
  for (const Normalization one :
       {Normalization::kNone, Normalization::kSigmoid, Normalization::kMinMaxScaler}) {
    if (value.AsString() == NameOf(one)) return one;
  }
  return Error(ErrorCode::kBadValue,
               "Enumeration value '{}' for field '{}.normalization' is not a valid value.",
               value.AsString(), stage);
}

std::span<const StageOp> ScoreStages() { return kRows; }

}  // namespace evenkeel::query::stage
