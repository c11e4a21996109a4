// Executes the operations of one batch: what they see, their effects in the memory table, and the
// log payload.
//
// Used by the writer thread alone, one batch at a time. Effects go into the active table at once,
// with versions no reader sees yet, and can be taken back while the batch is not appended.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_map.h"
#include "storage/batch_codec.h"
#include "storage/lmdb/checkpoint_store.h"
#include "storage/read/view.h"
#include "storage/store.h"
#include "storage/write/read_floor.h"

namespace evenkeel::storage {

class BatchContext final : public WriteContext {
 public:
  BatchContext(CheckpointStore* lmdb, ReadFloor* floor) : lmdb_(lmdb), floor_(floor) {}

  // Begins batch `index`; its effects go into `tables`' last entry. The list must be the newest.
  // `payload_bytes`: about how long the payload will be.
  void Begin(LogIndex index, std::shared_ptr<const TableList> tables, size_t payload_bytes = 0);
  // Adds a clock bound record.
  void LogClockBound(Timestamp bound);
  // Begins the next operation: a unit of its own.
  void BeginOp() { NextUnit(); }
  // Adds the changed counters. The payload is complete then.
  void FinishPayload();
  // The payload's size if it were complete now, about.
  size_t PayloadBytes() const { return payload_.size() + counter_bytes_; }
  bool HasEffects() const { return !payload_.empty(); }
  std::string TakePayload() { return payload_.Take(); }
  // Completes the batch in the active table, then ends it.
  void EndBatch();
  // Ends a batch: what was read becomes invalid.
  void End();

  Timestamp first_tick() const { return first_tick_; }  // zero when the batch took none
  Timestamp last_tick() const { return last_tick_; }
  Timestamp clock_bound() const {
    return clock_bound_;
  }  // the highest logged in this batch, or zero
  // The state set by this batch, or null.
  std::shared_ptr<const PublishedState> new_state() const {
    return state_changed_ ? state_ : nullptr;
  }

  Timestamp timestamp() override;
  void NextUnit() override { unit_ = Timestamp{}; }
  void NextUnitAt(Timestamp timestamp) override;
  std::optional<Record> Get(Table table, std::string_view key) override;
  std::unique_ptr<Cursor> NewCursor(Table table) override;
  void Put(Table table, std::string_view key, std::string_view value) override;
  void Remove(Table table, std::string_view key) override;
  void AddToCounter(std::string_view key, Count delta) override;
  Count Counter(std::string_view key) override;
  void RemoveRange(Table table, const TableRange& range) override;
  bool ChangedSince(Table table, std::string_view key, Timestamp snapshot) override;
  size_t Mark() const override { return undo_.size(); }
  void RollBackTo(size_t mark) override;
  const std::shared_ptr<const PublishedState>& state() const override { return state_; }
  void SetState(std::shared_ptr<const PublishedState> state) override;

 private:
  // How to take back one effect.
  struct Undo {
    enum class Kind : uint8_t { kVersion, kCounter, kRange, kState } kind;
    bool state_changed;       // as it was before
    size_t payload_size;      // before it
    Timestamp recorded_unit;  // before it
    SkipNode* node = nullptr;
    size_t counter = 0;
    Count delta;
  };
  // The newest value of a counter, kept between batches.
  struct CounterSlot {
    std::string key;
    Count value;
    Count logged;         // in the last batch that changed it
    bool listed = false;  // in changed_
  };

  Undo NewUndo(Undo::Kind kind) const {
    return {kind, state_changed_, payload_.size(), recorded_unit_, nullptr, 0, {}};
  }
  void RecordUnit();
  size_t CounterIndex(std::string_view key);
  CheckpointReader* Reader();

  CheckpointStore* const lmdb_;
  ReadFloor* const floor_;

  // Of the batch.
  LogIndex index_;
  std::shared_ptr<const TableList> list_;
  ReadTables tables_;
  MemTable* active_ = nullptr;
  std::unique_ptr<CheckpointReader> reader_;  // taken when first needed, after list_
  BatchWriter payload_;
  std::vector<Undo> undo_;
  std::vector<std::shared_ptr<const PublishedState>> old_states_;
  std::vector<size_t> changed_;  // counters
  size_t counter_bytes_ = 0;
  Timestamp unit_;           // of the running unit, zero before its first effect
  Timestamp recorded_unit_;  // the last one in the payload
  Timestamp first_tick_, last_tick_, clock_bound_;
  bool state_changed_ = false;

  // Across batches.
  std::vector<CounterSlot> counters_;
  base::StringMap<size_t> counter_index_;
  std::shared_ptr<const PublishedState> state_;
};

}  // namespace evenkeel::storage
