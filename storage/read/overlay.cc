// Keeps a transaction's effects in order and merges them into cursors.
#include "storage/read/overlay.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace evenkeel::storage {
namespace {

// Merges two ordered sources. The base stands on the nearest key in the direction that the overlay
// does not replace; `next_` on the nearest effect. The nearer of both is shown.
class OverlayCursor final : public Cursor {
 public:
  OverlayCursor(std::unique_ptr<Cursor> base, const Overlay* overlay, Table table)
      : base_(std::move(base)), effects_(overlay->effects(table)) {}

  void Seek(std::string_view key, std::string_view end) override {
    forward_ = true;
    limit_.assign(end);
    base_->Seek(key, end);
    next_ = effects_.lower_bound(key);
    Settle();
  }

  void SeekBack(std::string_view key, std::string_view begin) override {
    forward_ = false;
    limit_.assign(begin);
    base_->SeekBack(key, begin);
    next_ = key.empty() ? effects_.end() : effects_.lower_bound(key);
    StepBack();
    Settle();
  }

  void Next() override {
    if (!forward_) return Turn();
    from_effect_ ? NextEffect() : base_->Next();
    Settle();
  }

  void Previous() override {
    if (forward_) return Turn();
    from_effect_ ? NextEffect() : base_->Previous();
    Settle();
  }

  bool Valid() const override { return valid_; }
  std::string_view key() const override {
    return from_effect_ ? std::string_view(next_->first) : base_->key();
  }
  Record record() const override {
    return from_effect_ ? *next_->second.record() : base_->record();
  }

 private:
  // Goes on in the other direction from the present key.
  void Turn() {
    const std::string here(key());
    if (forward_) return SeekBack(here, {});
    Seek(here, {});
    if (Valid() && key() == here) Next();
  }

  // Before the first effect a backward walk is at its end.
  void StepBack() {
    at_begin_ = next_ == effects_.begin();
    if (!at_begin_) --next_;
  }
  bool HasEffect() const {
    if (!forward_) return !at_begin_ && next_->first >= limit_;
    return next_ != effects_.end() && (limit_.empty() || next_->first < limit_);
  }
  void NextEffect() {
    if (forward_) {
      ++next_;
    } else {
      StepBack();
    }
  }

  // Leaves out what is removed, and what of the base is replaced.
  void Settle() {
    while (true) {
      const bool effect = HasEffect();
      valid_ = effect || base_->Valid();
      from_effect_ = effect;
      if (!valid_ || !effect) return;
      if (base_->Valid()) {
        const int order = base_->key().compare(next_->first);
        if (order == 0) {
          forward_ ? base_->Next() : base_->Previous();
          continue;
        }
        if (forward_ ? order < 0 : order > 0) {
          from_effect_ = false;
          return;
        }
      }
      if (next_->second.value) return;
      NextEffect();
    }
  }

  const std::unique_ptr<Cursor> base_;
  const Overlay::Effects& effects_;
  Overlay::Effects::const_iterator next_;
  bool forward_ = true;
  std::string limit_;      // forward: the first key not to show; backward: the last one to show
  bool at_begin_ = false;  // backward: no effect is left
  bool from_effect_ = false;
  bool valid_ = false;
};

}  // namespace

const Overlay::Effect* Overlay::Find(Table table, std::string_view key) const {
  const Effects& all = effects(table);
  const auto found = all.find(key);
  return found == all.end() ? nullptr : &found->second;
}

bool Overlay::empty() const {
  return std::all_of(effects_.begin(), effects_.end(), [](const Effects& e) { return e.empty(); });
}

void Overlay::Put(Table table, std::string_view key, std::string_view value) {
  Set(table, key, std::make_shared<const std::string>(value));
}

void Overlay::Remove(Table table, std::string_view key) { Set(table, key, nullptr); }

void Overlay::Set(Table table, std::string_view key, std::shared_ptr<const std::string> value) {
  bytes_ += key.size() + (value ? value->size() : 0);
  Effects& all = effects_[static_cast<size_t>(table)];
  const auto [slot, added] = all.try_emplace(std::string(key));
  Undo undo{table, slot->first, std::nullopt};
  if (!added) {
    live_bytes_ -= BytesOf(key, slot->second);
    undo.before = std::move(slot->second);
  }
  slot->second = {std::move(value), Timestamp{next_version_++}};
  live_bytes_ += BytesOf(key, slot->second);
  journal_.push_back(std::move(undo));
}

void Overlay::RollBackTo(size_t mark) {
  for (; journal_.size() > mark; journal_.pop_back()) {
    Undo& undo = journal_.back();
    Effects& all = effects_[static_cast<size_t>(undo.table)];
    const auto slot = all.find(undo.key);
    bytes_ -= BytesOf(undo.key, slot->second);
    live_bytes_ -= BytesOf(undo.key, slot->second);
    if (undo.before) {
      slot->second = *std::move(undo.before);
      live_bytes_ += BytesOf(undo.key, slot->second);
    } else {
      all.erase(slot);
    }
  }
}

std::unique_ptr<Cursor> NewOverlayCursor(std::unique_ptr<Cursor> base, const Overlay* overlay,
                                         Table table) {
  return std::make_unique<OverlayCursor>(std::move(base), overlay, table);
}

}  // namespace evenkeel::storage
