// Reading and joining.
#include "query/exec/lookup.h"

#include <algorithm>

#include <absl/container/flat_hash_map.h>

#include "base/bson/builder.h"
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
  array.OpenDocument(stages.NextKey()).Append("$match", filter).Close();
  for (const bson::Element& stage : pipeline) stages.Add(stage.value);
  return array.Finish();
}

LookupOperator::LookupOperator(std::unique_ptr<Operator> input, const LookupSpec& spec,
                               const QueryContext& context)
    : input_(std::move(input)),
      spec_(spec),
      context_(context),
      budget_(context, "$lookup"),
      evaluation_(context),
      shared_(!spec.by_field() && spec.let.empty()) {}

void LookupOperator::BeginBatch() {
  std::vector<bson::OwnedValue> all;
  for (const Row& row : rows_) {
    for (bson::OwnedValue& value : ValuesAt(row.view, spec_.local)) all.push_back(std::move(value));
  }
  const bson::Document filter = MatchAnyOf(spec_.foreign.dotted(), all);
  readings_.push_back(
      {context_.foreign->Begin(spec_.ns, WithMatchInFront(filter, bson::View()), context_.let)});
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
      let.AppendUndefined(variable.name);  // compares like a missing field
    } else {
      let.Append(variable.name, value);
    }
  }
  bson::Document pipeline = spec_.pipeline;
  if (spec_.by_field()) {
    const bson::Document filter = MatchAnyOf(spec_.foreign.dotted(), ValuesAt(row, spec_.local));
    pipeline = WithMatchInFront(filter, spec_.pipeline);
  }
  readings_.push_back({context_.foreign->Begin(spec_.ns, std::move(pipeline), let.Finish())});
  return absl::OkStatus();
}

absl::Status LookupOperator::Begin() {
  begun_ = true;
  if (shared_ && !readings_.empty()) return absl::OkStatus();
  readings_.clear();
  if (spec_.by_field() && !spec_.has_pipeline) {
    BeginBatch();
  } else if (shared_) {
    EVENKEEL_RETURN_IF_ERROR(BeginOne(rows_.front().view));
  } else {
    for (const Row& row : rows_) EVENKEEL_RETURN_IF_ERROR(BeginOne(row.view));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LookupOperator::Collect() {
  bool all = true;
  size_t held_bytes = 0;
  for (Reading& reading : readings_) {
    if (!reading.ended) {
      for (bson::Document& row : reading.read->rows) reading.rows.push_back(std::move(row));
      reading.read->rows.clear();
      reading.ended = reading.read->ended;
      if (!reading.ended) context_.foreign->Want(reading.read);
    }
    all = all && reading.ended;
    for (const bson::Document& row : reading.rows) held_bytes += sizeof(row) + row.SizeBytes();
  }
  if (budget_.Exceeded(held_bytes)) return budget_.Refuse();
  return all;
}

absl::StatusOr<Row> LookupOperator::Joined(const Row& row,
                                           const std::vector<const bson::Document*>& found) const {
  size_t size_bytes = 0;
  for (const bson::Document* document : found) size_bytes += document->SizeBytes();
  if (size_bytes > static_cast<size_t>(limits::kDocumentBytesMax)) {
    return Error(Location(4568),
                 "Total size of documents in {} matching pipeline's $lookup stage "
                 "exceeds {} bytes",
                 spec_.ns, limits::kDocumentBytesMax);
  }
  bson::Builder array;
  bson::ArrayAppender elements(array);
  for (const bson::Document* document : found) elements.Add(*document);
  const bson::Document joined = array.Finish();
  return Row::Own(WithField(row.view, spec_.as, bson::Value(Type::kArray, joined.view().data())));
}

absl::Status LookupOperator::JoinReads(Batch* out) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    std::vector<const bson::Document*> found;
    for (const bson::Document& row : readings_[shared_ ? 0 : i].rows) found.push_back(&row);
    EVENKEEL_ASSIGN_OR_RETURN(Row joined, Joined(rows_[i], found));
    out->push_back(std::move(joined));
  }
  return absl::OkStatus();
}

absl::Status LookupOperator::JoinBatch(Batch* out) {
  const std::vector<bson::Document>& foreign = readings_.front().rows;
  using Index =
      absl::flat_hash_map<bson::Value, std::vector<size_t>, expr::ValueHash, expr::ValueEqual>;
  Index index(0, expr::ValueHash{context_.collation}, expr::ValueEqual{context_.collation});
  std::vector<size_t> others;  // arrays and absent values: asked one by one
  for (size_t i = 0; i < foreign.size(); ++i) {
    const bson::Value value = bson::LookupPlain(foreign[i].view(), spec_.foreign);
    if (value.IsNullish() || value.Is(Type::kArray)) {
      others.push_back(i);
    } else {
      index[value].push_back(i);
    }
  }
  for (const Row& row : rows_) {
    const std::vector<bson::OwnedValue> values = ValuesAt(row.view, spec_.local);
    std::vector<size_t> found;
    for (const bson::OwnedValue& value : values) {
      const auto at = index.find(value.value());
      if (at != index.end()) found.insert(found.end(), at->second.begin(), at->second.end());
    }
    if (!others.empty()) {
      const bson::Document spec = MatchAnyOf(spec_.foreign.dotted(), values);
      EVENKEEL_ASSIGN_OR_RETURN(const Filter filter, Filter::Parse(spec, context_));
      for (const size_t i : others) {
        if (filter.Matches(foreign[i])) found.push_back(i);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::vector<const bson::Document*> documents;
    for (const size_t i : found) documents.push_back(&foreign[i]);
    EVENKEEL_ASSIGN_OR_RETURN(Row joined, Joined(row, documents));
    out->push_back(std::move(joined));
  }
  return absl::OkStatus();
}

absl::StatusOr<Step> LookupOperator::Pull(Batch* out) {
  if (context_.foreign == nullptr) {
    return Error(ErrorCode::kInternalError, "$lookup runs where no other collections can be read");
  }
  while (rows_.empty()) {
    if (input_ended_) return Step::kEnd;
    EVENKEEL_ASSIGN_OR_RETURN(const Step step, input_->Pull(&rows_));
    if (step == Step::kNeedInput && rows_.empty()) return step;
    input_ended_ = step == Step::kEnd;
    for (Row& row : rows_) row.MakeOwned();
  }
  if (!begun_) EVENKEEL_RETURN_IF_ERROR(Begin());
  EVENKEEL_ASSIGN_OR_RETURN(const bool all, Collect());
  if (!all) return Step::kNeedInput;
  const bool batch = spec_.by_field() && !spec_.has_pipeline;
  EVENKEEL_RETURN_IF_ERROR(batch ? JoinBatch(out) : JoinReads(out));
  rows_.clear();
  begun_ = false;
  return Step::kRows;
}

}  // namespace evenkeel::query
