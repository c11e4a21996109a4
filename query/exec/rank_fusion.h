// $rankFusion: puts several rankings of one input into one, by reciprocal ranks.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "query/exec/facet.h"

namespace evenkeel::query {

// The score of a document is the sum over the rankings that have it of weight / (60 + rank). Rows
// come by falling score, equals by `_id`. Source: "$rankFusion" in the manual.
// Limits   the rankings together hold at most a document's size.
class RankFusionOperator final : public Operator {
 public:
  // `rankings` gives one document with an array per ranking; `weights` are by its name.
  RankFusionOperator(std::unique_ptr<FacetOperator> rankings, std::map<std::string, double> weights,
                     const QueryContext& context)
      : rankings_(std::move(rankings)),
        weights_(std::move(weights)),
        collation_(context.collation) {}
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  struct Ranked {
    bson::Document row;
    double score = 0;
  };
  void Fuse(bson::View rankings);

  std::unique_ptr<FacetOperator> rankings_;
  std::map<std::string, double> weights_;
  const bson::StringComparator* collation_;
  bool fused_ = false;
  std::vector<Ranked> ranked_;
  size_t next_ = 0;
  Batch batch_;
};

}  // namespace evenkeel::query
