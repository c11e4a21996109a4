// Walking a document level by level.
#include "query/exec/redact.h"

#include "base/bson/builder.h"
#include "base/status.h"

namespace evenkeel::query {

using bson::Type;

absl::StatusOr<RedactOperator::Decision> RedactOperator::Decide(bson::View level) {
  evaluation_.Begin(root_);
  evaluation_.SetVariable(current_, bson::Value(Type::kObject, level.data()));
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value result, rule_.Evaluate(evaluation_));
  if (result.Is(Type::kString)) {
    if (result.AsString() == "keep") return Decision::kKeep;
    if (result.AsString() == "prune") return Decision::kPrune;
    if (result.AsString() == "descend") return Decision::kDescend;
  }
  return Error(Location(17053),
               "$redact's expression should not return anything aside from the variables $$KEEP, "
               "$$DESCEND, and $$PRUNE");
}

absl::Status RedactOperator::AppendValue(std::string_view key, bson::Value value,
                                         bson::Builder& out) {
  if (value.Is(Type::kArray)) {
    out.OpenArray(key);
    EVENKEEL_RETURN_IF_ERROR(AppendElements(value.AsDocument(), out));
    out.Close();
    return absl::OkStatus();
  }
  if (!value.Is(Type::kObject)) {
    out.Append(key, value);
    return absl::OkStatus();
  }
  EVENKEEL_ASSIGN_OR_RETURN(const Decision decision, Decide(value.AsDocument()));
  if (decision == Decision::kKeep) out.Append(key, value);
  if (decision != Decision::kDescend) return absl::OkStatus();
  out.OpenDocument(key);
  EVENKEEL_RETURN_IF_ERROR(AppendFields(value.AsDocument(), out));
  out.Close();
  return absl::OkStatus();
}

absl::Status RedactOperator::AppendFields(bson::View level, bson::Builder& out) {
  for (const auto& [key, value] : level) EVENKEEL_RETURN_IF_ERROR(AppendValue(key, value, out));
  return absl::OkStatus();
}

absl::Status RedactOperator::AppendElements(bson::View array, bson::Builder& out) {
  // Elements that are pruned leave no gap: the keys of the others move up.
  bson::ArrayAppender elements(out);
  for (const bson::Element& element : array) {
    if (element.value.Is(Type::kObject)) {
      EVENKEEL_ASSIGN_OR_RETURN(const Decision decision, Decide(element.value.AsDocument()));
      if (decision == Decision::kPrune) continue;
    }
    EVENKEEL_RETURN_IF_ERROR(AppendValue(elements.NextKey(), element.value, out));
  }
  return absl::OkStatus();
}

absl::Status RedactOperator::Process(Row row, Batch* out) {
  root_ = row.view;
  EVENKEEL_ASSIGN_OR_RETURN(const Decision decision, Decide(row.view));
  if (decision == Decision::kKeep) out->push_back(std::move(row));
  if (decision != Decision::kDescend) return absl::OkStatus();
  bson::Builder document;
  EVENKEEL_RETURN_IF_ERROR(AppendFields(row.view, document));
  out->push_back(Row::Own(document.Finish()));
  return absl::OkStatus();
}

}  // namespace evenkeel::query
