// Breadth first.
#include "query/exec/graph_lookup.h"

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/exec/lookup.h"
#include "query/exec/set_path.h"

namespace evenkeel::query {

using bson::Type;

GraphLookupOperator::GraphLookupOperator(std::unique_ptr<Operator> input,
                                         const GraphLookupSpec& spec, const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      context_(context),
      budget_(context, "$graphLookup", context.memory.graph_lookup),
      evaluation_(context),
      followed_(Less{context.collation}),
      found_ids_(Less{context.collation}) {}

bool GraphLookupOperator::Less::operator()(const bson::OwnedValue& a,
                                           const bson::OwnedValue& b) const {
  return bson::Compare(a.value(), b.value(), collation) < 0;
}

void GraphLookupOperator::Follow(bson::Value value) {
  if (value.IsNullish()) return;
  bson::OwnedValue owned(value);
  if (!followed_.insert(owned).second) return;
  held_bytes_ += sizeof(owned) + value.SizeBytes();
  level_.push_back(std::move(owned));
}

absl::StatusOr<Step> GraphLookupOperator::Start() {
  while (next_ == rows_.size()) {
    rows_.clear();
    next_ = 0;
    if (input_ended_) return Step::kEnd;
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&rows_));
    for (Row& row : rows_) row.MakeOwned();
    input_ended_ = step == Step::kEnd;
    if (step == Step::kNeedInput && rows_.empty()) return step;
  }
  level_.clear();
  followed_.clear();
  found_ids_.clear();
  found_.clear();
  held_bytes_ = 0;
  depth_ = 0;
  evaluation_.Begin(rows_[next_].view);
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value start, spec_.start_with->Evaluate(evaluation_));
  if (start.Is(Type::kArray)) {
    for (const bson::Element& element : start.AsDocument()) Follow(element.value);
  } else {
    Follow(start);
  }
  active_ = true;
  BeginLevel();
  return Step::kRows;
}

void GraphLookupOperator::BeginLevel() {
  read_ = nullptr;
  if (level_.empty()) return;
  bson::Document filter = MatchAnyOf(spec_.connect_to.dotted(), level_);
  if (!spec_.restrict_to.empty()) {
    bson::Builder both;
    both.OpenArray("$and").Append("0", filter).Append("1", spec_.restrict_to).Close();
    filter = both.Finish();
  }
  level_.clear();
  read_ = context_.foreign->Begin(spec_.ns, WithMatchInFront(filter, bson::View()), context_.let);
}

absl::Status GraphLookupOperator::TakeFound() {
  const bool deeper = !spec_.max_depth || depth_ < *spec_.max_depth;
  for (bson::Document& row : read_->rows) {
    if (!found_ids_.emplace(row["_id"]).second) continue;
    held_bytes_ += 2 * sizeof(bson::Document) + row.SizeBytes();
    if (budget_.Exceeded(held_bytes_)) {
      return Error(Location(40099), "$graphLookup reached maximum memory consumption");
    }
    if (deeper) {
      for (const bson::OwnedValue& value : ValuesAt(row, spec_.connect_from)) Follow(value);
    }
    if (spec_.depth_field) {
      EvalArena arena;
      row = WithField(row, *spec_.depth_field, arena.Int64(depth_));
    }
    found_.push_back(std::move(row));
  }
  read_->rows.clear();
  return absl::OkStatus();
}

absl::Status GraphLookupOperator::Emit(Batch* out) {
  size_t size_bytes = 0;
  for (const bson::Document& document : found_) size_bytes += document.SizeBytes();
  if (size_bytes > static_cast<size_t>(limits::kDocumentBytesMax)) {
    return Error(ErrorCode::kBSONObjectTooLarge, "$graphLookup found {} bytes for one document",
                 size_bytes);
  }
  bson::Builder array;
  bson::ArrayAppender elements(array);
  for (const bson::Document& document : found_) elements.Add(document);
  const bson::Document found = array.Finish();
  out->push_back(Row::Own(
      WithField(rows_[next_++].view, spec_.as, bson::Value(Type::kArray, found.view().data()))));
  active_ = false;
  return absl::OkStatus();
}

absl::StatusOr<Step> GraphLookupOperator::Pull(Batch* out) {
  if (context_.foreign == nullptr) {
    return Error(ErrorCode::kInternalError, "$graphLookup runs where no collections can be read");
  }
  if (!active_) {
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, Start());
    if (step != Step::kRows) return step;
  }
  while (read_ != nullptr) {
    EVENKEEL_RETURN_IF_ERROR(TakeFound());
    if (!read_->ended) {
      context_.foreign->Want(read_);
      return Step::kNeedInput;
    }
    ++depth_;
    BeginLevel();
  }
  EVENKEEL_RETURN_IF_ERROR(Emit(out));
  return Step::kRows;
}

}  // namespace evenkeel::query
