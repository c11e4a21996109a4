// Effects that are not in the log: the layer of a transaction, the topmost one of its cursors.
//
// One thread at a time. Records that it shows stay valid until the overlay is destroyed or taken
// back to a mark.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/store.h"
#include "storage/table.h"

namespace evenkeel::storage {

class Overlay {
 public:
  // The newest effect on one key: a value, or its removal.
  struct Effect {
    std::shared_ptr<const std::string> value;  // null: removed
    Timestamp version;  // above every commit timestamp, different for each effect
    std::optional<Record> record() const {
      return value ? std::optional<Record>({*value, version}) : std::nullopt;
    }
  };
  using Effects = std::map<std::string, Effect, std::less<>>;

  // Null: it knows nothing of the key.
  const Effect* Find(Table table, std::string_view key) const;
  const Effects& effects(Table table) const { return effects_[static_cast<size_t>(table)]; }
  bool empty() const;
  // Of keys and values, replaced ones included: what it takes in memory.
  size_t bytes() const { return bytes_; }
  // Of keys and values as they are now: what it takes in the log.
  size_t live_bytes() const { return live_bytes_; }

  void Put(Table table, std::string_view key, std::string_view value);
  void Remove(Table table, std::string_view key);

  // Takes back everything since the mark.
  size_t Mark() const { return journal_.size(); }
  void RollBackTo(size_t mark);

 private:
  struct Undo {
    Table table;
    std::string key;
    std::optional<Effect> before;
  };
  void Set(Table table, std::string_view key, std::shared_ptr<const std::string> value);
  static size_t BytesOf(std::string_view key, const Effect& effect) {
    return key.size() + (effect.value ? effect.value->size() : 0);
  }

  std::array<Effects, kTableCount> effects_;
  std::vector<Undo> journal_;  // also keeps replaced values alive
  uint64_t next_version_ = uint64_t{1} << 63;
  size_t bytes_ = 0, live_bytes_ = 0;
};

// A cursor over `base` with the overlay's effects on top. Both outlive it; the overlay may change
// only between two calls of Seek or SeekBack.
std::unique_ptr<Cursor> NewOverlayCursor(std::unique_ptr<Cursor> base, const Overlay* overlay,
                                         Table table);

}  // namespace evenkeel::storage
