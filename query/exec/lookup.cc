// Reading and joining.
#include "query/exec/lookup.h"

#include <algorithm>

#include <absl/container/flat_hash_map.h>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/exec/set_path.h"
#include "query/expr/value_hash.h"
#include "query/match/filter.h"

namespace evenkeel::query {

using bson::Type;

namespace {

// Adds what lies at the path from `part` on; an index addresses an element of an array. True when
// something was there, be it an empty array.
bool Collect(bson::Value value, const bson::Path& path, size_t part,
             std::vector<bson::OwnedValue>* values) {
  if (part == path.size()) {
    if (value.missing()) return false;
    if (value.Is(Type::kArray)) {
      for (const bson::Element& element : value.AsDocument()) values->emplace_back(element.value);
    } else {
      values->emplace_back(value.IsNullish() ? NullValue() : value);
    }
    return true;
  }
  if (value.Is(Type::kObject)) {
    return Collect(value.AsDocument()[path.part(part)], path, part + 1, values);
  }
  if (!value.Is(Type::kArray)) return false;
  bool found = false;
  for (const bson::Element& element : value.AsDocument()) {
    if (element.key == path.part(part)) found |= Collect(element.value, path, part + 1, values);
    if (element.value.Is(Type::kObject)) found |= Collect(element.value, path, part, values);
  }
  return found;
}

}  // namespace

std::vector<bson::OwnedValue> ValuesAt(bson::View row, const bson::Path& path) {
  std::vector<bson::OwnedValue> values;
  if (!Collect(bson::Value(Type::kObject, row.data()), path, 0, &values)) {
    values.emplace_back(NullValue());
  }
  return values;
}

bson::Document MatchAnyOf(std::string_view field, const std::vector<bson::OwnedValue>& values) {
  bson::Builder filter;
  filter.OpenArray("$or");
  bson::ArrayAppender branches(filter);
  filter.OpenDocument(branches.NextKey()).OpenDocument(field).OpenArray("$in");
  bson::ArrayAppender in(filter);
  for (const bson::OwnedValue& value : values) {
    if (!value.value().Is(Type::kRegex)) in.Add(value);
  }
  filter.Close().Close().Close();
  for (const bson::OwnedValue& value : values) {
    if (!value.value().Is(Type::kRegex)) continue;
    filter.OpenDocument(branches.NextKey()).OpenDocument(field).Append("$eq", value);
    filter.Close().Close();
  }
  const bool plain = branches.count() == 1;
  filter.Close();
  bson::Document any = filter.Finish();
  // The common case stays plain: a shard key is recognised in it.
  return plain ? bson::Document(any["$or"].AsDocument()["0"].AsDocument()) : any;
}

bson::Document WithMatchInFront(const bson::Document& filter, bson::View pipeline) {
  bson::Builder array;
  bson::ArrayAppender stages(array);
  const auto add_match = [&] {
    array.OpenDocument(stages.NextKey()).Append("$match", filter).Close();
  };
  const bson::Value first = pipeline.Front().value;
  const bool makes_documents =
      first.Is(Type::kObject) && first.AsDocument().Front().key == "$documents";
  if (!makes_documents) add_match();
  for (const bson::Element& stage : pipeline) {
    stages.Add(stage.value);
    if (makes_documents && stages.count() == 1) add_match();
  }
  return array.Finish();
}

// The documents that a batch has read, by the value of the foreign field.
class LookupOperator::Index {
 public:
  Index(const LookupSpec& spec, const QueryContext& context)
      : spec_(spec),
        context_(context),
        by_value_(0, expr::ValueHash{context.collation}, expr::ValueEqual{context.collation}) {}

  void Add(bson::View row) {
    documents_.push_back(std::make_unique<bson::Document>(row));
    const size_t at = documents_.size() - 1;
    const bson::Value value = bson::LookupPlain(documents_[at]->view(), spec_.foreign);
    if (value.IsNullish() || value.Is(Type::kArray)) {
      others_.push_back(at);
    } else {
      by_value_[value].push_back(at);
    }
  }
  bson::View operator[](size_t at) const { return *documents_[at]; }

  // Those that belong to the row, by `_id`: shards give them in no order.
  absl::StatusOr<std::vector<size_t>> Find(bson::View row) const {
    const std::vector<bson::OwnedValue> values = ValuesAt(row, spec_.local);
    std::vector<size_t> found;
    for (const bson::OwnedValue& value : values) {
      const auto at = by_value_.find(value.value());
      if (at != by_value_.end()) found.insert(found.end(), at->second.begin(), at->second.end());
    }
    if (!others_.empty()) {
      const bson::Document spec = MatchAnyOf(spec_.foreign.dotted(), values);
      EVENKEEL_ASSIGN_OR_RETURN(const Filter filter, Filter::Parse(spec, context_));
      for (const size_t i : others_) {
        if (filter.Matches(*documents_[i])) found.push_back(i);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::stable_sort(found.begin(), found.end(), [this](size_t a, size_t b) {
      return bson::Compare(documents_[a]->view()["_id"], documents_[b]->view()["_id"]) < 0;
    });
    return found;
  }

 private:
  const LookupSpec& spec_;
  const QueryContext& context_;
  std::vector<std::unique_ptr<bson::Document>> documents_;
  absl::flat_hash_map<bson::Value, std::vector<size_t>, expr::ValueHash, expr::ValueEqual>
      by_value_;
  std::vector<size_t> others_;  // arrays and absent values: asked one by one
};

LookupOperator::LookupOperator(std::unique_ptr<Operator> input, const LookupSpec& spec,
                               const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      context_(context),
      budget_(context, "$lookup", context.memory.lookup),
      evaluation_(context),
      shared_(!spec.by_field() && spec.let.empty()) {}

LookupOperator::~LookupOperator() = default;

absl::StatusOr<Step> LookupOperator::NextRows() {
  while (next_ == rows_.size()) {
    rows_.clear();
    next_ = end_ = 0;
    one_by_one_ = false;
    if (input_ended_) return Step::kEnd;
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&rows_));
    if (step == Step::kNeedInput && rows_.empty()) return step;
    input_ended_ = step == Step::kEnd;
    for (Row& row : rows_) row.MakeOwned();
  }
  end_ = one_by_one_ ? next_ + 1 : rows_.size();
  return Step::kRows;
}

void LookupOperator::AddReading(bson::Document pipeline, bson::Document let) {
  readings_.emplace_back(
      new Reading{context_.foreign->Begin(spec_.ns, std::move(pipeline), std::move(let)),
                  RowBuffer(context_, "$lookup", context_.memory.lookup)});
}

void LookupOperator::BeginBatch() {
  std::vector<bson::OwnedValue> all;
  for (size_t i = next_; i < end_; ++i) {
    for (bson::OwnedValue& value : ValuesAt(rows_[i].view, spec_.local)) {
      all.push_back(std::move(value));
    }
  }
  AddReading(WithMatchInFront(MatchAnyOf(spec_.foreign.dotted(), all), bson::View()), context_.let);
}

absl::Status LookupOperator::BeginOne(bson::View row) {
  bson::Builder let;
  for (const bson::Element& outer : context_.let.view()) {
    const bool hidden = std::any_of(spec_.let.begin(), spec_.let.end(),
                                    [&](const auto& own) { return own.name == outer.key; });
    if (!hidden) let.Append(outer.key, outer.value);
  }
  evaluation_.Begin(row);
  for (const LookupSpec::Variable& variable : spec_.let) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, variable.value->Evaluate(evaluation_));
    if (value.missing()) {
      let.AppendUndefined(variable.name);  // stands for a missing value
    } else {
      let.Append(variable.name, value);
    }
  }
  bson::Document pipeline = spec_.pipeline;
  if (spec_.by_field()) {
    const bson::Document filter = MatchAnyOf(spec_.foreign.dotted(), ValuesAt(row, spec_.local));
    pipeline = WithMatchInFront(filter, spec_.has_pipeline ? spec_.pipeline : bson::Document());
  }
  AddReading(std::move(pipeline), let.Finish());
  readings_.back()->read->by_id = true;
  return absl::OkStatus();
}

absl::Status LookupOperator::Begin() {
  begun_ = true;
  if (shared_ && !readings_.empty()) return absl::OkStatus();
  readings_.clear();
  index_ = nullptr;
  if (spec_.by_field() && !spec_.has_pipeline && !one_by_one_) {
    BeginBatch();
    index_ = std::make_unique<Index>(spec_, context_);
    return absl::OkStatus();
  }
  const size_t end = shared_ ? next_ + 1 : end_;
  for (size_t i = next_; i < end; ++i) EVENKEEL_RETURN_IF_ERROR(BeginOne(rows_[i].view));
  return absl::OkStatus();
}

absl::Status LookupOperator::BeginSmaller() {
  for (const auto& reading : readings_) context_.foreign->Drop(reading->read);
  one_by_one_ = true;
  end_ = next_ + 1;
  (void)budget_.Exceeded(0);
  return Begin();
}

absl::StatusOr<bool> LookupOperator::Collect() {
  bool all = true;
  size_t held_bytes = 0;
  for (const auto& reading : readings_) {
    if (!reading->ended) {
      for (bson::Document& row : reading->read->rows) {
        reading->size_bytes += sizeof(Row) + sizeof(row) + row.SizeBytes();
        if (index_) {
          index_->Add(row);
        } else {
          EVENKEEL_RETURN_IF_ERROR(reading->rows.Append(Row::Own(std::move(row))));
        }
      }
      reading->read->rows.clear();
      reading->ended = reading->read->ended;
      if (reading->ended) EVENKEEL_RETURN_IF_ERROR(reading->rows.Finish());
      if (!reading->ended) context_.foreign->Want(reading->read);
    }
    all = all && reading->ended;
    held_bytes += reading->size_bytes;
  }
  // The buffer of a single read spills by itself.
  if ((!index_ && readings_.size() == 1) || !budget_.Exceeded(held_bytes)) return all;
  if (end_ - next_ == 1 && !index_) return budget_.Refuse();
  EVENKEEL_RETURN_IF_ERROR(BeginSmaller());
  return false;
}

absl::StatusOr<std::optional<bson::View>> LookupOperator::NextFound() {
  if (!index_) return reader_->Next();
  if (found_next_ == found_.size()) return std::nullopt;
  return (*index_)[found_[found_next_++]];
}

void LookupOperator::EndRow() {
  row_begun_ = false;
  reader_.reset();
  rows_[next_++] = Row();
  if (next_ < end_) return;
  begun_ = false;
  index_ = nullptr;
  if (!shared_) readings_.clear();
}

absl::Status LookupOperator::AddArray(Batch* out) {
  size_t size_bytes = 0;
  bson::Builder array;
  bson::ArrayAppender elements(array);
  for (;;) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::optional<bson::View> document, NextFound());
    if (!document) break;
    size_bytes += document->SizeBytes();
    if (size_bytes > static_cast<size_t>(limits::kDocumentBytesMax)) {
      return Error(Location(4568),
                   "Total size of documents in {} matching pipeline's $lookup stage "
                   "exceeds {} bytes",
                   spec_.ns, limits::kDocumentBytesMax);
    }
    elements.Add(*document);
  }
  const bson::Document joined = array.Finish();
  const bson::Value value(Type::kArray, joined.view().data());
  out->push_back(Row::Own(WithField(rows_[next_].view, spec_.as, value)));
  EndRow();
  return absl::OkStatus();
}

absl::Status LookupOperator::AddUnwound(Batch* out) {
  const bson::View row = rows_[next_].view;
  for (size_t count = 0; count < kBatchRows; ++count) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::optional<bson::View> document, NextFound());
    if (!document) {
      if (found_count_ == 0 && spec_.unwind->preserve_empty) {
        out->push_back(Row::Own(Unwound(row, *spec_.unwind, bson::Value(), std::nullopt)));
      }
      EndRow();
      return absl::OkStatus();
    }
    const bson::Value value(Type::kObject, document->data());
    out->push_back(Row::Own(Unwound(row, *spec_.unwind, value, found_count_++)));
  }
  return absl::OkStatus();
}

absl::Status LookupOperator::Join(Batch* out) {
  if (!row_begun_) {
    row_begun_ = true;
    found_count_ = 0;
    found_next_ = 0;
    if (index_) {
      EVENKEEL_ASSIGN_OR_RETURN(found_, index_->Find(rows_[next_].view));
    } else {
      const size_t at = shared_ ? 0 : readings_.size() - (end_ - next_);
      reader_.emplace(readings_[at]->rows);
    }
  }
  return spec_.unwind ? AddUnwound(out) : AddArray(out);
}

absl::StatusOr<Step> LookupOperator::Pull(Batch* out) {
  if (context_.foreign == nullptr) {
    return Error(ErrorCode::kInternalError, "$lookup runs where no other collections can be read");
  }
  const size_t before = out->size();
  for (;;) {
    if (!begun_) {
      EVENKEEL_ASSIGN_OR_RETURN(const Step step, NextRows());
      if (step != Step::kRows) return step;
      EVENKEEL_RETURN_IF_ERROR(Begin());
    }
    EVENKEEL_ASSIGN_OR_RETURN(const bool all, Collect());
    if (!all) return Step::kNeedInput;
    while (begun_ && out->size() - before < kBatchRows) EVENKEEL_RETURN_IF_ERROR(Join(out));
    if (out->size() > before) return Step::kRows;
  }
}

}  // namespace evenkeel::query
