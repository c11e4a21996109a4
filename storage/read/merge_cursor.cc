// Implements the merging cursor.
#include "storage/read/merge_cursor.h"

namespace evenkeel::storage {

MergeCursor::MergeCursor(const ReadTables& tables, CheckpointReader* reader, Table table,
                         uint64_t bound, bool growing)
    : table_(table),
      bound_(bound),
      growing_(growing && !tables.empty()),
      lmdb_(reader->NewCursor(DatabaseOf(table))) {
  for (const MemTable* mem : tables) {
    // An empty list of a table that does not grow has nothing this reader may see.
    const bool may_grow = growing_ && mem == tables.front();
    if (may_grow || !mem->list(table).empty()) lists_.push_back(&mem->list(table));
  }
  nodes_.resize(lists_.size(), nullptr);
}

void MergeCursor::PlaceMemory(size_t source, std::string_view key) {
  const SkipList& list = *lists_[source];
  if (direction_ == Direction::kForward) {
    nodes_[source] = list.FindAtLeast(key);
  } else {
    nodes_[source] = key.empty() ? list.Last() : list.FindBefore(key);
  }
  if (growing_ && source == 0) seen_count_ = list.count();
}

void MergeCursor::PlaceAll(std::string_view key, Direction direction, std::string_view limit) {
  direction_ = direction;
  limit_.assign(limit);
  for (size_t source = 0; source < lists_.size(); ++source) PlaceMemory(source, key);
  if (direction == Direction::kForward) {
    lmdb_->Seek(key);
  } else {
    lmdb_->SeekBack(key);
  }
}

bool MergeCursor::Grown() { return growing_ && lists_[0]->count() != seen_count_; }

void MergeCursor::Seek(std::string_view key, std::string_view end) {
  PlaceAll(key, Direction::kForward, end);
  Settle();
}

void MergeCursor::SeekBack(std::string_view key, std::string_view begin) {
  PlaceAll(key, Direction::kBackward, begin);
  Settle();
}

void MergeCursor::Next() {
  if (direction_ != Direction::kForward) {
    // The smallest key above the current one is the key with a zero byte behind it.
    std::string above(key_);
    above.push_back('\0');
    PlaceAll(above, Direction::kForward, {});
  } else if (Grown()) {
    PlaceMemory(0, key_);
    if (nodes_[0] != nullptr && nodes_[0]->key() == key_) nodes_[0] = SkipList::Next(nodes_[0]);
  }
  Settle();
}

void MergeCursor::Previous() {
  if (direction_ != Direction::kBackward) {
    PlaceAll(key_, Direction::kBackward, {});
  } else if (Grown()) {
    PlaceMemory(0, key_);
  }
  Settle();
}

bool MergeCursor::NearestKey(std::string_view* key) const {
  bool found = lmdb_->Valid();
  if (found) *key = lmdb_->key();
  for (const SkipNode* node : nodes_) {
    if (node == nullptr) continue;
    const std::string_view candidate = node->key();
    if (!found || (direction_ == Direction::kForward ? candidate < *key : candidate > *key)) {
      *key = candidate;
      found = true;
    }
  }
  return found;
}

Resolved MergeCursor::TakeKey(std::string_view key) {
  absl::InlinedVector<const SkipNode*, 6> nodes(nodes_.size(), nullptr);
  for (size_t source = 0; source < nodes_.size(); ++source) {
    SkipNode*& node = nodes_[source];
    if (node == nullptr || node->key() != key) continue;
    nodes[source] = node;
    node =
        direction_ == Direction::kForward ? SkipList::Next(node) : lists_[source]->FindBefore(key);
  }
  Resolved resolved = ResolveNodes(nodes.data(), nodes.size(), bound_);
  if (lmdb_->Valid() && lmdb_->key() == key) {
    if (resolved.found == Found::kAskLmdb) {
      resolved = {Found::kRecord, RecordOfLmdb(table_, lmdb_->value())};
    }
    if (direction_ == Direction::kForward) {
      lmdb_->Next();
    } else {
      lmdb_->Previous();
    }
  }
  return resolved;
}

bool MergeCursor::IsBehindLimit(std::string_view key) const {
  return direction_ == Direction::kForward ? !limit_.empty() && key >= limit_ : key < limit_;
}

void MergeCursor::Settle() {
  std::string_view key;
  while (NearestKey(&key) && !IsBehindLimit(key)) {
    const Resolved resolved = TakeKey(key);
    if (resolved.found != Found::kRecord) continue;
    key_ = key;
    record_ = resolved.record;
    valid_ = true;
    return;
  }
  valid_ = false;
}

}  // namespace evenkeel::storage
