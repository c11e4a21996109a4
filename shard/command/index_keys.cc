// Turns the values of documents into index records.
#include "shard/command/index_keys.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/hash.h"
#include "base/bson/sort_keys.h"
#include "base/limits.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "shard/command/index_values.h"
#include "storage/keys/placement.h"

namespace evenkeel::shard {
namespace {

// The hash by which a hashed field keeps a value: of its sort key where the index has a collation.
int64_t HashOf(const catalog::IndexEntry& index, bson::Value value) {
  if (index.collation == nullptr) return bson::HashValue(value);
  return bson::HashValue(bson::WithSortKeys(value, *index.collation));
}

void AppendField(const catalog::IndexEntry& index, const catalog::IndexField& field,
                 bson::Value value, std::string* encoded, std::string* type_bits) {
  if (field.hashed) {
    const int64_t hash = HashOf(index, value);
    storage::AppendEncoded(bson::Value(bson::Type::kInt64, reinterpret_cast<const char*>(&hash)),
                           storage::Direction::kAscending, encoded);
    return;
  }
  storage::AppendEncoded(value, field.direction, encoded, index.collation);
  storage::AppendTypeBits(value, type_bits);
}

// Appends the encodings of all fields.
void AppendTuple(const catalog::IndexEntry& index, std::span<const bson::Value> tuple,
                 std::string* encoded, std::string* type_bits) {
  for (size_t f = 0; f < index.fields.size(); ++f) {
    AppendField(index, index.fields[f], tuple[f], encoded, type_bits);
  }
}

}  // namespace

std::string KeyOfTuple(const catalog::IndexEntry& index, std::span<const bson::Value> tuple,
                       std::string_view doc_key) {
  std::string encoded, type_bits;
  AppendTuple(index, tuple, &encoded, &type_bits);
  return storage::IndexKey(index.id, encoded, doc_key);
}

bool HasRecords(const catalog::CollectionEntry& entry, const catalog::IndexEntry& index) {
  return entry.sharded() || !index.IsIdIndex();
}

absl::Status AppendIndexRecords(const catalog::IndexEntry& index, bson::View document,
                                std::string_view doc_key, std::vector<IndexRecord>* out,
                                bool* multikey) {
  EVENKEEL_ASSIGN_OR_RETURN(const IndexValues tuples, IndexValuesOf(index, document));
  *multikey |= tuples.array;
  std::string encoded, type_bits;
  const size_t count = index.fields.size();
  for (size_t at = 0; at < tuples.values.size(); at += count) {
    const std::span<const bson::Value> tuple(tuples.values.data() + at, count);
    const auto missing = [](const bson::Value& value) { return value.missing(); };
    if (index.sparse && std::all_of(tuple.begin(), tuple.end(), missing)) continue;
    encoded.clear();
    type_bits.clear();
    AppendTuple(index, tuple, &encoded, &type_bits);
    IndexRecord record;
    record.index = &index;
    record.key = storage::IndexKey(index.id, encoded, doc_key);
    record.value = storage::IndexValue(type_bits, encoded, doc_key);
    record.prefix_bytes = storage::IndexPrefix(index.id, encoded).size();
    record.long_key = storage::FieldsAreShortened(encoded);
    out->push_back(std::move(record));
  }
  return absl::OkStatus();
}

absl::StatusOr<DocumentRecords> RecordsOf(const catalog::CollectionEntry& entry,
                                          bson::View document) {
  DocumentRecords records;
  EVENKEEL_ASSIGN_OR_RETURN(const catalog::Placement place, entry.PlacementOf(document));
  records.hash = place.hash;
  records.doc_key = storage::DocKey(entry.id, place.key, document["_id"], entry.id_collation());
  const bool docs_key_is_long = records.doc_key.size() == limits::kLmdbKeyBytesMax;
  for (const catalog::IndexEntry& index : entry.indexes) {
    bool multikey = false, long_key = !HasRecords(entry, index) && docs_key_is_long;
    const size_t first = records.indexes.size();
    if (HasRecords(entry, index)) {
      EVENKEEL_RETURN_IF_ERROR(
          AppendIndexRecords(index, document, records.doc_key, &records.indexes, &multikey));
    }
    for (size_t i = first; i < records.indexes.size(); ++i) long_key |= records.indexes[i].long_key;
    if (multikey) records.multikey.push_back(index.id);
    if (long_key) records.long_keys.push_back(index.id);
  }
  if (records.indexes.size() > 1) {
    auto& all = records.indexes;
    // Equal values of different types in one array have one key: the same one is kept every time.
    std::sort(all.begin(), all.end(), [](const IndexRecord& a, const IndexRecord& b) {
      const int order = a.key.compare(b.key);
      return order != 0 ? order < 0 : a.value < b.value;
    });
    all.erase(
        std::unique(all.begin(), all.end(),
                    [](const IndexRecord& a, const IndexRecord& b) { return a.key == b.key; }),
        all.end());
  }
  return records;
}

std::string IndexCounterKey(IndexId index) {
  const uint64_t bits = __builtin_bswap64(index.value);
  return "i" + std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

}  // namespace evenkeel::shard
