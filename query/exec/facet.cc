// Feeding the branches side by side.
#include "query/exec/facet.h"

#include "base/bson/builder.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::query {

FacetOperator::FacetOperator(std::unique_ptr<Operator> input, std::vector<Branch> branches,
                             const QueryContext& context)
    : input_(std::move(input)), branches_(std::move(branches)), bytes_max_(context.memory.facet) {}

absl::StatusOr<Step> FacetOperator::Feed() {
  batch_.clear();
  EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&batch_));
  for (Branch& branch : branches_) {
    if (branch.ended) continue;
    for (const Row& row : batch_) branch.queue->Push(Row::Own(bson::Document(row.view)));
    if (step == Step::kEnd) branch.queue->Finish();
  }
  return step;
}

absl::Status FacetOperator::Drain(Branch& branch) {
  Batch rows;
  while (!branch.ended) {
    rows.clear();
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, branch.last->Pull(&rows));
    for (Row& row : rows) {
      row.MakeOwned();
      held_bytes_ += sizeof(bson::Document) + row.view.SizeBytes();
      branch.rows.push_back(std::move(*row.owned));
    }
    if (held_bytes_ > bytes_max_) {
      return Error(Location(4031700),
                   "document constructed by $facet is {} bytes, which exceeds the "
                   "limit of {} bytes",
                   held_bytes_, bytes_max_);
    }
    branch.ended = step == Step::kEnd;
    if (step == Step::kNeedInput) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<bson::Document> FacetOperator::Result() const {
  if (held_bytes_ > static_cast<size_t>(limits::kDocumentBytesMax)) {
    size_t size_bytes = 0;
    for (const Branch& branch : branches_) {
      for (const bson::Document& row : branch.rows) size_bytes += row.SizeBytes();
    }
    if (size_bytes > static_cast<size_t>(limits::kDocumentBytesMax)) {
      return Error(ErrorCode::kBSONObjectTooLarge, "the result of $facet has {} bytes", size_bytes);
    }
  }
  bson::Builder document;
  for (const Branch& branch : branches_) {
    document.OpenArray(branch.name);
    bson::ArrayAppender array(document);
    for (const bson::Document& row : branch.rows) array.Add(row);
    document.Close();
  }
  return document.Finish();
}

absl::StatusOr<Step> FacetOperator::Pull(Batch* out) {
  if (done_) return Step::kEnd;
  while (!fed_) {
    bool waiting = false;  // a branch has not taken its last batch: it reads other collections
    for (Branch& branch : branches_) {
      EVENKEEL_RETURN_IF_ERROR(Drain(branch));
      waiting = waiting || (!branch.ended && !branch.queue->empty());
    }
    if (waiting) return Step::kNeedInput;
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, Feed());
    if (step == Step::kNeedInput) return step;
    fed_ = step == Step::kEnd;
  }
  bool waiting = false;  // for reads of other collections
  for (Branch& branch : branches_) {
    EVENKEEL_RETURN_IF_ERROR(Drain(branch));
    waiting = waiting || !branch.ended;
  }
  if (waiting) return Step::kNeedInput;
  EVENKEEL_ASSIGN_OR_RETURN(bson::Document document, Result());
  out->push_back(Row::Own(std::move(document)));
  done_ = true;
  return Step::kRows;
}

}  // namespace evenkeel::query
