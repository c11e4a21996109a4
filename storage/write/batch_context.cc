// Implements the execution of a batch.
#include "storage/write/batch_context.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "storage/read/merge_cursor.h"
#include "storage/read/resolve.h"

namespace evenkeel::storage {
namespace {

constexpr size_t kCountersKeptMax = 4096;
constexpr size_t kCounterRecordBytes = 24;  // without the key
constexpr uint64_t kNewest = ~uint64_t{0};

}  // namespace

void BatchContext::Begin(LogIndex index, std::shared_ptr<const TableList> tables,
                         size_t payload_bytes) {
  payload_.Reserve(payload_bytes);
  index_ = index;
  list_ = std::move(tables);
  tables_ = TablesForLatest(*list_);
  active_ = list_->entries.back().table.get();
  first_tick_ = last_tick_ = clock_bound_ = unit_ = recorded_unit_ = Timestamp{};
  state_changed_ = false;
  counter_bytes_ = 0;
  if (counters_.size() > kCountersKeptMax) {
    counters_.clear();
    counter_index_.clear();
  }
}

void BatchContext::EndBatch() {
  active_->EndBatch(index_, last_tick_, clock_bound_);
  End();
}

void BatchContext::End() {
  undo_.clear();
  old_states_.clear();
  for (const size_t index : changed_) counters_[index].listed = false;
  changed_.clear();
  reader_.reset();
  tables_.clear();
  list_.reset();
  active_ = nullptr;
}

void BatchContext::LogClockBound(Timestamp bound) {
  payload_.ClockBound(bound);
  clock_bound_ = std::max(clock_bound_, bound);
}

void BatchContext::FinishPayload() {
  for (const size_t index : changed_) {
    CounterSlot& slot = counters_[index];
    if (slot.value == slot.logged) continue;
    slot.logged = slot.value;
    payload_.Counter(slot.key, slot.value);
    active_->Put(Table::kCounters, slot.key, index_.value, EncodeCount(slot.value));
  }
}

Timestamp BatchContext::timestamp() {
  if (unit_ == Timestamp{}) {
    unit_ = floor_->Tick();
    last_tick_ = std::max(last_tick_, unit_);
    first_tick_ = first_tick_ == Timestamp{} ? unit_ : std::min(first_tick_, unit_);
  }
  return unit_;
}

void BatchContext::NextUnitAt(Timestamp timestamp) {
  floor_->Raise(timestamp);
  unit_ = timestamp;
  last_tick_ = std::max(last_tick_, timestamp);
  first_tick_ = first_tick_ == Timestamp{} ? timestamp : std::min(first_tick_, timestamp);
}

void BatchContext::RecordUnit() {
  if (recorded_unit_ == timestamp()) return;
  payload_.Unit(unit_);
  recorded_unit_ = unit_;
}

CheckpointReader* BatchContext::Reader() {
  if (reader_ == nullptr) {
    auto reader = lmdb_->BeginRead();
    EVENKEEL_CHECK(reader.ok());
    reader_ = *std::move(reader);
  }
  return reader_.get();
}

std::optional<Record> BatchContext::Get(Table table, std::string_view key) {
  const Resolved resolved = ResolveNewest(tables_, active_, table, key);
  if (resolved.found == Found::kRecord) return resolved.record;
  if (resolved.found == Found::kRemoved) return std::nullopt;
  const std::optional<std::string_view> value = Reader()->Get(DatabaseOf(table), key);
  if (!value.has_value()) return std::nullopt;
  return RecordOfLmdb(table, *value);
}

std::unique_ptr<Cursor> BatchContext::NewCursor(Table table) {
  return std::make_unique<MergeCursor>(tables_, Reader(), table, kNewest, true);
}

void BatchContext::Put(Table table, std::string_view key, std::string_view value) {
  EVENKEEL_CHECK(!key.empty() && key.size() <= limits::kLmdbKeyBytesMax);
  Undo undo = NewUndo(Undo::Kind::kVersion);
  RecordUnit();
  payload_.Put(table, key, value);
  undo.node = active_->Put(table, key, unit_.bits, value);
  undo_.push_back(undo);
}

void BatchContext::Remove(Table table, std::string_view key) {
  EVENKEEL_CHECK(!key.empty() && key.size() <= limits::kLmdbKeyBytesMax);
  Undo undo = NewUndo(Undo::Kind::kVersion);
  RecordUnit();
  payload_.Remove(table, key);
  undo.node = active_->Remove(table, key, unit_.bits);
  undo_.push_back(undo);
}

size_t BatchContext::CounterIndex(std::string_view key) {
  if (const auto found = counter_index_.find(key); found != counter_index_.end()) {
    return found->second;
  }
  const std::optional<Record> record = Get(Table::kCounters, key);
  const Count value = record.has_value() ? DecodeCount(record->value) : Count{};
  counters_.push_back({std::string(key), value, value});
  counter_index_.try_emplace(std::string(key), counters_.size() - 1);
  return counters_.size() - 1;
}

Count BatchContext::Counter(std::string_view key) { return counters_[CounterIndex(key)].value; }

void BatchContext::AddToCounter(std::string_view key, Count delta) {
  Undo undo = NewUndo(Undo::Kind::kCounter);
  undo.counter = CounterIndex(key);
  undo.delta = delta;
  CounterSlot& slot = counters_[undo.counter];
  slot.value.documents += delta.documents;
  slot.value.bytes += delta.bytes;
  if (!slot.listed) {
    slot.listed = true;
    changed_.push_back(undo.counter);
    counter_bytes_ += slot.key.size() + kCounterRecordBytes;
  }
  undo_.push_back(undo);
}

void BatchContext::RemoveRange(Table table, const TableRange& range) {
  undo_.push_back(NewUndo(Undo::Kind::kRange));
  RecordUnit();
  payload_.RemoveRange(table, range);
  active_->AddDeadRange({table, range, unit_});
}

bool BatchContext::ChangedSince(Table table, std::string_view key, Timestamp snapshot) {
  if (snapshot < list_->history_floor) return true;
  const uint64_t hash = KeyHash(key);
  for (const MemTable* mem : TablesForSnapshot(*list_, snapshot)) {
    const SkipNode* node = mem->Find(table, key, hash);
    const Version* newest = node == nullptr ? nullptr : node->newest();
    if (newest != nullptr && newest->stamp > snapshot.bits) return true;
  }
  return false;
}

void BatchContext::SetState(std::shared_ptr<const PublishedState> state) {
  undo_.push_back(NewUndo(Undo::Kind::kState));
  old_states_.push_back(std::exchange(state_, std::move(state)));
  state_changed_ = true;
}

void BatchContext::RollBackTo(size_t mark) {
  while (undo_.size() > mark) {
    const Undo& undo = undo_.back();
    switch (undo.kind) {
      case Undo::Kind::kVersion:
        MemTable::TakeBack(undo.node);
        break;
      case Undo::Kind::kCounter:
        counters_[undo.counter].value.documents -= undo.delta.documents;
        counters_[undo.counter].value.bytes -= undo.delta.bytes;
        break;
      case Undo::Kind::kRange:
        active_->TakeBackDeadRange();
        break;
      case Undo::Kind::kState:
        state_ = std::move(old_states_.back());
        old_states_.pop_back();
        break;
    }
    state_changed_ = undo.state_changed;
    payload_.CutTo(undo.payload_size);
    recorded_unit_ = undo.recorded_unit;
    undo_.pop_back();
  }
}

}  // namespace evenkeel::storage
