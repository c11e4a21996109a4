// $rankFusion and $scoreFusion: put the results of several pipelines over one input into one list.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "query/exec/facet.h"
#include "query/exec/scores.h"

namespace evenkeel::query {

// What to make of the results.
struct FusionSpec {
  struct Input {
    std::string name;
    double weight = 1;
  };
  std::vector<Input> inputs;
  bool by_rank = true;  // else by the scores that the pipelines' rows carry
  Normalization normalization = Normalization::kNone;
  ExpressionPtr expression;  // over {name: weighted score, …}; null: their sum or average
  std::string method;        // as the details name it
  std::string expression_text;
  bool details = false;
  bool keep_score = false;  // for {$meta: "score"} further on
};

// By rank, a document's score is the sum over the pipelines that have it of weight / (60 + rank).
// By score it is the average, or an expression, of weight times normalized score, which is 0 for
// pipelines without the document. Rows come by falling score, equals by `_id`. Source:
// "$rankFusion", "$scoreFusion" in the manual. `spec` and `context` outlive the operator. Limits
// the results of the pipelines together: a document's size.
class FusionOperator final : public Operator {
 public:
  // `inputs` gives one document with an array of rows per pipeline.
  FusionOperator(std::unique_ptr<FacetOperator> inputs, const FusionSpec& spec,
                 const QueryContext& context)
      : inputs_(std::move(inputs)), spec_(spec), context_(context) {}
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  // A document, and how it stands in each pipeline.
  struct Fused {
    struct Place {
      int64_t rank = 0;  // 0: it is not there
      double raw = 0, value = 0;
    };
    bson::Document row;
    std::vector<Place> places;
    double score = 0;
  };
  absl::Status Fuse(bson::View results);
  absl::StatusOr<double> ScoreOf(const Fused& fused) const;
  bson::Document DetailsOf(const Fused& fused) const;
  Row RowOf(const Fused& fused) const;

  std::unique_ptr<FacetOperator> inputs_;
  const FusionSpec& spec_;
  const QueryContext& context_;
  bool done_ = false;
  std::vector<Fused> fused_;
  size_t next_ = 0;
  Batch batch_;
};

}  // namespace evenkeel::query
