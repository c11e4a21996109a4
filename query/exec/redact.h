// $redact: keeps, prunes or looks into each level of a document.
#pragma once

#include "query/exec/streaming.h"
#include "query/expr/expression.h"

namespace evenkeel::query {

// Evaluates `rule` with `current` as $$CURRENT on the document and, while it says $$DESCEND, on the
// documents within. `rule` and `context` outlive the operator. Errors: 17053 for any other result.
class RedactOperator final : public StreamingOperator {
 public:
  RedactOperator(std::unique_ptr<Operator> input, const Expression& rule, VariableSlot current,
                 const QueryContext& context)
      : StreamingOperator(std::move(input)), rule_(rule), current_(current), evaluation_(context) {}

 protected:
  absl::Status Process(Row row, Batch* out) override;

 private:
  enum class Decision : uint8_t { kKeep, kPrune, kDescend };
  absl::StatusOr<Decision> Decide(bson::View level);
  // Appends what stays of a field or element.
  absl::Status AppendValue(std::string_view key, bson::Value value, bson::Builder& out);
  absl::Status AppendFields(bson::View level, bson::Builder& out);
  absl::Status AppendElements(bson::View array, bson::Builder& out);

  const Expression& rule_;
  const VariableSlot current_;
  Evaluation evaluation_;
  bson::View root_;
};

}  // namespace evenkeel::query
