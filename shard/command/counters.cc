// Implements the counters' keys.
#include "shard/command/counters.h"

#include "storage/keys/placement.h"

namespace evenkeel::shard {
namespace {

std::string KeyOf(char kind, CollectionId collection) {
  const uint64_t bits = __builtin_bswap64(collection.value);
  return kind + std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

void Add(storage::Count count, storage::Count* sum) {
  sum->documents += count.documents;
  sum->bytes += count.bytes;
}

}  // namespace

std::string OwnedCounterKey(CollectionId collection) { return KeyOf('c', collection); }
std::string OrphanedCounterKey(CollectionId collection) { return KeyOf('o', collection); }
std::string LeavingCounterKey(CollectionId collection) { return KeyOf('l', collection); }
std::string ArrivingCounterKey(CollectionId collection, int64_t range_min) {
  return KeyOf('a', collection) + storage::EncodeHash(range_min, storage::PlacedBy::kHash);
}

std::string CounterKey(const Collection& collection, int64_t hash) {
  const catalog::CollectionEntry& entry = *collection.entry;
  if (collection.Owns(hash)) return OwnedCounterKey(entry.id);
  if (!entry.moves_ranges()) return OrphanedCounterKey(entry.id);
  return ArrivingCounterKey(entry.id, collection.assignment->RangeOf(hash).min);
}

std::vector<std::string> ArrivingCounterKeys(const Collection& collection) {
  std::vector<std::string> keys;
  if (!collection.entry->moves_ranges()) return keys;
  for (const catalog::HashRange& range : collection.assignment->ranges()) {
    if (range.owner == collection.shard) continue;
    keys.push_back(ArrivingCounterKey(collection.entry->id, range.min));
  }
  return keys;
}

std::vector<std::string> ForeignCounterKeys(const Collection& collection) {
  std::vector<std::string> keys = ArrivingCounterKeys(collection);
  keys.push_back(OrphanedCounterKey(collection.entry->id));
  return keys;
}

std::vector<std::string> CounterKeys(const Collection& collection) {
  const CollectionId id = collection.entry->id;
  std::vector<std::string> keys = ForeignCounterKeys(collection);
  keys.push_back(OwnedCounterKey(id));
  keys.push_back(LeavingCounterKey(id));
  return keys;
}

storage::Count CountOwned(const storage::ReadSlice& slice, CollectionId collection) {
  return slice.Counter(OwnedCounterKey(collection));
}

storage::Count CountForeign(const storage::ReadSlice& slice, const Collection& collection) {
  storage::Count sum;
  for (const std::string& key : ForeignCounterKeys(collection)) Add(slice.Counter(key), &sum);
  return sum;
}

}  // namespace evenkeel::shard
