// Hashing of keys and keeping of states.
#include "query/exec/group_table.h"

#include <algorithm>
#include <new>

#include "base/bson/builder.h"
#include "base/status.h"

namespace evenkeel::query {
namespace {

constexpr std::string_view kPartials = "p";

// Bytes of one group beyond its key and states: its row in the list and in the hash table.
constexpr size_t kGroupOverheadBytes = 2 * (sizeof(bson::Value) + sizeof(char*)) + 16;

}  // namespace

GroupTable::GroupTable(const GroupSpec& spec, const QueryContext& context)
    : spec_(spec),
      evaluation_(context),
      table_(0, expr::ValueHash{context.collation}, expr::ValueEqual{context.collation}) {
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= accum::kStateAlignment);
  accum_context_.collation = context.collation;
  evaluation_.SetInGroup();
  for (const accum::OutputField& field : spec_.fields) {
    offsets_.push_back(states_bytes_);
    const size_t bytes = field.accumulator.op->state_bytes + accum::kStateAlignment - 1;
    states_bytes_ += bytes - bytes % accum::kStateAlignment;
  }
  field_bytes_.resize(offsets_.size());
  field_bytes_peak_.resize(offsets_.size());
}

GroupTable::~GroupTable() { Clear(); }

size_t GroupTable::FieldBytes(size_t field) const {
  const size_t end = field + 1 == offsets_.size() ? states_bytes_ : offsets_[field + 1];
  return field_bytes_[field] + groups_.size() * (end - offsets_[field]);
}

void GroupTable::AppendFieldBytes(bson::Builder* out) const {
  for (size_t i = 0; i < offsets_.size(); ++i) {
    const size_t most = std::max(field_bytes_peak_[i], FieldBytes(i));
    out->Append(spec_.fields[i].name, static_cast<int64_t>(most));
  }
}

void GroupTable::Clear() {
  for (size_t i = 0; i < offsets_.size(); ++i) {
    field_bytes_peak_[i] = std::max(field_bytes_peak_[i], FieldBytes(i));
    field_bytes_[i] = 0;
  }
  for (const Group& group : groups_) {
    DestroyStates(group.states, offsets_.size());
    ::operator delete(group.states);
  }
  groups_.clear();
  table_.clear();
  keys_.Reset();
  key_bytes_ = 0;
  accum_context_.memory_bytes = 0;
}

void GroupTable::DestroyStates(char* states, size_t count) {
  for (size_t i = 0; i < count; ++i) spec_.fields[i].accumulator.op->destroy(states + offsets_[i]);
}

absl::Status GroupTable::InitStates(char* states, bson::Value key) {
  for (size_t i = 0; i < offsets_.size(); ++i) {
    const accum::AccumSpec& accumulator = spec_.fields[i].accumulator;
    absl::StatusOr<bson::Value> argument = bson::Value();
    Evaluation of_key(evaluation_.query());  // keeps the argument until the state has read it
    if (accumulator.argument != nullptr) {
      of_key.Begin(key.Is(bson::Type::kObject) ? key.AsDocument() : bson::View());
      argument = accumulator.argument->Evaluate(of_key);
    }
    absl::Status status = argument.status();
    if (status.ok()) status = accumulator.op->init(states + offsets_[i], *argument);
    if (!status.ok()) {
      // A failed init has made its state; a failed argument has not.
      DestroyStates(states, argument.ok() ? i + 1 : i);
      return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<char*> GroupTable::FindOrMake(bson::Value key) {
  if (key.missing()) key = NullValue();
  if (const auto found = table_.find(key); found != table_.end()) return found->second;
  const bson::Value kept = keys_.Copy(key);
  char* states = static_cast<char*>(::operator new(states_bytes_));
  if (absl::Status status = InitStates(states, kept); !status.ok()) {
    ::operator delete(states);
    return status;
  }
  groups_.push_back({kept, states});
  table_.emplace(kept, states);
  key_bytes_ += key.SizeBytes();
  return states;
}

absl::Status GroupTable::Take(bson::View document) {
  evaluation_.Begin(document);
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value key, spec_.id->Evaluate(evaluation_));
  EVENKEEL_ASSIGN_OR_RETURN(char* states, FindOrMake(key));
  for (size_t i = 0; i < offsets_.size(); ++i) {
    const accum::AccumSpec& accumulator = spec_.fields[i].accumulator;
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, accumulator.input->Evaluate(evaluation_));
    const size_t before = accum_context_.memory_bytes;
    EVENKEEL_RETURN_IF_ERROR(accumulator.op->add(states + offsets_[i], value, accum_context_));
    field_bytes_[i] += accum_context_.memory_bytes - before;
  }
  return absl::OkStatus();
}

absl::Status GroupTable::TakePartial(bson::View partial) {
  const bson::Value partials = partial[kPartials];
  if (!partials.Is(bson::Type::kArray)) {
    return Error(ErrorCode::kInternalError, "a partial group has no states");
  }
  EVENKEEL_ASSIGN_OR_RETURN(char* states, FindOrMake(partial["_id"]));
  size_t i = 0;
  for (const bson::Element& element : partials.AsDocument()) {
    if (i == offsets_.size()) break;
    const accum::AccumOp& op = *spec_.fields[i].accumulator.op;
    const size_t before = accum_context_.memory_bytes;
    EVENKEEL_RETURN_IF_ERROR(op.merge(states + offsets_[i], element.value, accum_context_));
    field_bytes_[i] += accum_context_.memory_bytes - before;
    ++i;
  }
  return absl::OkStatus();
}

size_t GroupTable::HeldBytes() const {
  return groups_.size() * (states_bytes_ + kGroupOverheadBytes) + key_bytes_ +
         accum_context_.memory_bytes;
}

uint64_t GroupTable::HashOf(size_t group) const {
  return expr::HashOf(groups_[group].key, accum_context_.collation);
}

bson::Document GroupTable::Partial(size_t group) const {
  bson::Builder builder;
  builder.Append("_id", groups_[group].key).OpenArray(kPartials);
  bson::ArrayAppender keys(builder);
  for (size_t i = 0; i < offsets_.size(); ++i) {
    const accum::AccumOp& op = *spec_.fields[i].accumulator.op;
    op.serialize(groups_[group].states + offsets_[i], builder, keys.NextKey());
  }
  return builder.Finish();
}

bson::Document GroupTable::Result(size_t group) const {
  bson::Builder builder;
  builder.Append("_id", groups_[group].key);
  for (size_t i = 0; i < offsets_.size(); ++i) {
    const accum::OutputField& field = spec_.fields[i];
    field.accumulator.op->finish(groups_[group].states + offsets_[i], builder, field.name);
  }
  return builder.Finish();
}

}  // namespace evenkeel::query
