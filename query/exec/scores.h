// Scores of rows: what $score, $rankFusion and $scoreFusion give, and {$meta: "score"} reads.
//
// Rows carry their score and how it came about as metadata (query/expr/meta.h), from the stage that
// makes them to the last one that reads them: query/stage/meta_links.h.
#pragma once

#include <absl/status/statusor.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "query/exec/operator.h"
#include "query/exec/row_buffer.h"
#include "query/exec/streaming.h"
#include "query/expr/expression.h"
#include "query/expr/meta.h"

namespace evenkeel::query {

enum class Normalization : uint8_t { kNone, kSigmoid, kMinMaxScaler };
std::string_view NameOf(Normalization normalization);

// Brings the scores of one set of rows into [0, 1], or leaves them.
class ScoreScale {
 public:
  explicit ScoreScale(Normalization normalization) : normalization_(normalization) {}
  // Every score of the set, before the first Apply; only a minMaxScaler looks at them.
  void Add(double score);
  // Source: "$score" in the manual; a set of equal scores becomes 0, as with $minMaxScaler.
  double Apply(double score) const;
  bool needs_all() const { return normalization_ == Normalization::kMinMaxScaler; }

 private:
  const Normalization normalization_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

// Copies of a row with its score and, unless missing, the details; and without both.
bson::Document WithScore(bson::View row, double score, bson::Value details);
bson::Document WithoutScore(bson::View row);

// A parsed $score.
struct ScoreSpec {
  ExpressionPtr score;
  std::string expression;  // as JSON, for the details
  Normalization normalization = Normalization::kNone;
  double weight = 1;
  bool details = false;
};

// Gives each row a score. Rows keep their order. `spec` and `context` outlive the operator. Errors:
// of the expression, TypeMismatch when it is no number. Limits   a minMaxScaler keeps all rows: the
// context's memory for sorts; past it they go to disk.
class ScoreOperator final : public Operator {
 public:
  ScoreOperator(std::unique_ptr<Operator> input, const ScoreSpec& spec,
                const QueryContext& context);
  absl::StatusOr<Step> Pull(Batch* out) override;

 private:
  absl::StatusOr<double> ScoreOf(bson::View row);
  Row Finished(bson::View row, double score) const;
  // Reads all rows into kept_ with the scores as they are.
  absl::StatusOr<Step> Keep();

  std::unique_ptr<Operator> input_;
  const ScoreSpec& spec_;
  Evaluation evaluation_;
  ScoreScale scale_;
  RowBuffer kept_;
  std::optional<RowBuffer::Reader> reader_;
  Batch batch_;
};

// Takes scores away that nobody reads.
class DropScoresOperator final : public StreamingOperator {
 public:
  explicit DropScoresOperator(std::unique_ptr<Operator> input)
      : StreamingOperator(std::move(input)) {}

 protected:
  absl::Status Process(Row row, Batch* out) override {
    out->push_back(Row::Own(WithoutScore(row.view)));
    return absl::OkStatus();
  }
};

}  // namespace evenkeel::query
