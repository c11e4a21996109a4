// Implements the choice of a version.
#include "storage/read/resolve.h"

#include "storage/lmdb/doc_value.h"

namespace evenkeel::storage {
namespace {

Resolved FromVersion(const Version& version) {
  if (version.removed()) return {Found::kRemoved, {}};
  return {Found::kRecord, {version.value(), Timestamp{version.stamp}}};
}

}  // namespace

Resolved ResolveNodes(const SkipNode* const* nodes, size_t count, uint64_t bound) {
  for (size_t i = 0; i < count; ++i) {
    if (nodes[i] == nullptr) continue;
    if (const Version* version = nodes[i]->NewestAt(bound)) return FromVersion(*version);
  }
  for (size_t i = count; i-- > 0;) {
    if (nodes[i] == nullptr) continue;
    if (const Version* old = nodes[i]->hung()) return FromVersion(*old);
  }
  return {};
}

Resolved ResolveKey(const ReadTables& tables, Table table, std::string_view key, uint64_t bound) {
  absl::InlinedVector<const SkipNode*, 6> nodes;
  const uint64_t hash = KeyHash(key);
  for (const MemTable* mem : tables) {
    const SkipNode* node = mem->Find(table, key, hash);
    if (node != nullptr) {
      if (const Version* version = node->NewestAt(bound)) return FromVersion(*version);
    }
    nodes.push_back(node);
  }
  return ResolveNodes(nodes.data(), nodes.size(), bound);
}

Resolved ResolveNewest(const ReadTables& tables, MemTable* active, Table table,
                       std::string_view key) {
  const uint64_t hash = KeyHash(key);
  const SkipNode* node = active->Find(table, key, hash);
  for (size_t i = 0;; ++i) {
    if (const Version* newest = node == nullptr ? nullptr : node->newest())
      return FromVersion(*newest);
    if (i + 1 >= tables.size()) return {};
    node = tables[i + 1]->Find(table, key, hash);
  }
}

Record RecordOfLmdb(Table table, std::string_view value) {
  if (!KeepsTimestamps(table)) return {value, {}};
  const DocValue doc = SplitDocValue(value);
  return {doc.document, doc.commit_timestamp};
}

}  // namespace evenkeel::storage
