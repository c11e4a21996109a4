// Implements the memory table.
#include "storage/memory/mem_table.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace evenkeel::storage {
namespace {

const Version kAbsent{.size = Version::kRemoved};

}  // namespace

std::string EncodeCount(Count count) {
  std::string bytes(sizeof(Count), '\0');
  std::memcpy(bytes.data(), &count, sizeof(Count));
  return bytes;
}

Count DecodeCount(std::string_view value) {
  Count count;
  if (value.size() == sizeof(Count)) std::memcpy(&count, value.data(), sizeof(Count));
  return count;
}

MemTable::MemTable(LogIndex first)
    : lists_{SkipList(&nodes_), SkipList(&nodes_), SkipList(&nodes_),
             SkipList(&nodes_), SkipList(&nodes_), SkipList(&nodes_)},
      first_index_(first),
      last_index_{first.value - 1} {}

SkipNode* MemTable::Put(Table table, std::string_view key, uint64_t stamp, std::string_view value) {
  return Install(table, key, Version::New(&values_, stamp, value));
}

SkipNode* MemTable::Remove(Table table, std::string_view key, uint64_t stamp) {
  return Install(table, key, Version::NewRemoval(&values_, stamp));
}

size_t MemTable::held_bytes() const {
  size_t bytes = nodes_.held_bytes() + values_.held_bytes() + hung_.held_bytes();
  for (const KeyIndex& index : indexes_) bytes += index.bytes();
  return bytes;
}

SkipNode* MemTable::Install(Table table, std::string_view key, Version* version) {
  const uint64_t hash = KeyHash(key);
  SkipNode* node = Find(table, key, hash);
  if (node == nullptr) {
    node = lists_[static_cast<size_t>(table)].FindOrInsert(key);
    indexes_[static_cast<size_t>(table)].Insert(hash, node);
  }
  version->older = node->newest();
  EVENKEEL_DCHECK(version->older == nullptr || version->older->stamp <= version->stamp);
  node->set_newest(version);
  return node;
}

void MemTable::TakeBack(SkipNode* node) { node->set_newest(node->newest()->older); }

void MemTable::EndBatch(LogIndex index, Timestamp last, Timestamp clock_bound) {
  last_index_ = index;
  max_timestamp_ = std::max(max_timestamp_, last);
  clock_bound_ = std::max(clock_bound_, clock_bound);
}

void MemTable::HangOld(SkipNode* node, uint64_t stamp, std::string_view old_value) {
  if (node->hung() == nullptr) node->set_hung(Version::New(&hung_, stamp, old_value));
}

void MemTable::HangAbsent(SkipNode* node) {
  if (node->hung() == nullptr) node->set_hung(&kAbsent);
}

}  // namespace evenkeel::storage
