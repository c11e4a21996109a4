// Expands documents into index records, arrays included.
#include "shard/command/index_keys.h"

#include <algorithm>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/hash.h"
#include "base/status.h"
#include "catalog/assignment.h"

namespace evenkeel::shard {
namespace {

// What one indexed field contributes: the values it has in the document, several where arrays are
// on its path.
struct FieldValues {
  std::vector<bson::Value> values;
  bool array = false;  // an array was met
};

// Collects the values of `path` from its part `at` on, below `value`.
void Collect(bson::Value value, const bson::Path& path, size_t at, bool inside_array,
             FieldValues* out) {
  if (at == path.size()) {
    if (!value.Is(bson::Type::kArray)) {
      out->values.push_back(value);
      return;
    }
    out->array = true;
    if (inside_array) {  // an array directly inside an array is one value
      out->values.push_back(value);
      return;
    }
    const bson::View array = value.AsDocument();
    if (array.empty()) out->values.emplace_back(bson::Type::kUndefined, nullptr);
    for (const auto& [key, element] : array) out->values.push_back(element);
    return;
  }
  if (value.Is(bson::Type::kObject)) {
    Collect(value.AsDocument()[path.part(at)], path, at + 1, false, out);
    return;
  }
  if (!value.Is(bson::Type::kArray) || inside_array) {
    out->values.emplace_back();
    return;
  }
  out->array = true;
  const bson::View array = value.AsDocument();
  if (bson::IsArrayIndex(path.part(at))) {
    if (const bson::Value element = array[path.part(at)]; !element.missing()) {
      Collect(element, path, at + 1, false, out);
      return;
    }
  }
  for (const auto& [key, element] : array) {
    if (element.Is(bson::Type::kObject)) Collect(element, path, at, true, out);
  }
  if (out->values.empty()) out->values.emplace_back();
}

FieldValues ValuesOf(bson::View document, const bson::Path& path) {
  FieldValues out;
  if (path.size() == 1) {  // the common case without recursion
    const bson::Value value = document[path.part(0)];
    if (!value.Is(bson::Type::kArray)) {
      out.values.push_back(value);
      return out;
    }
    Collect(value, path, 1, false, &out);
    return out;
  }
  Collect(bson::Value(bson::Type::kObject, document.data()), path, 0, false, &out);
  return out;
}

void AppendField(const catalog::IndexField& field, bson::Value value, std::string* encoded,
                 std::string* type_bits) {
  if (field.hashed) {
    const int64_t hash = bson::HashValue(value);
    storage::AppendEncoded(bson::Value(bson::Type::kInt64, reinterpret_cast<const char*>(&hash)),
                           storage::Direction::kAscending, encoded);
    return;
  }
  storage::AppendEncoded(value, field.direction, encoded);
  storage::AppendTypeBits(value, type_bits);
}

}  // namespace

bool HasRecords(const catalog::CollectionEntry& entry, const catalog::IndexEntry& index) {
  return entry.sharded() || !index.IsIdIndex();
}

absl::Status AppendIndexRecords(const catalog::IndexEntry& index, bson::View document,
                                std::string_view doc_key, std::vector<IndexRecord>* out,
                                bool* multikey) {
  std::vector<FieldValues> fields;
  fields.reserve(index.fields.size());
  const catalog::IndexField* array_field = nullptr;
  size_t array_at = 0;
  bool all_missing = true;
  for (const catalog::IndexField& field : index.fields) {
    FieldValues values = ValuesOf(document, field.path);
    if (values.array) {
      if (field.hashed) {
        return Error(ErrorCode::kCannotBuildIndexKeys,
                     "hashed indexes do not support array values: field '{}'", field.path.dotted());
      }
      if (array_field != nullptr && values.values.size() > 1 &&
          fields[array_at].values.size() > 1) {
        return Error(ErrorCode::kCannotBuildIndexKeys, "cannot index parallel arrays [{}] [{}]",
                     field.path.dotted(), array_field->path.dotted());
      }
      if (array_field == nullptr || values.values.size() > 1) {
        array_field = &field;
        array_at = fields.size();
      }
    }
    for (const bson::Value& value : values.values) all_missing &= value.missing();
    fields.push_back(std::move(values));
  }
  *multikey |= array_field != nullptr;
  if (index.sparse && all_missing) return absl::OkStatus();

  const size_t count = array_field == nullptr ? 1 : fields[array_at].values.size();
  std::string encoded, type_bits;
  for (size_t i = 0; i < count; ++i) {
    encoded.clear();
    type_bits.clear();
    for (size_t f = 0; f < fields.size(); ++f) {
      const size_t at = f == array_at && array_field != nullptr ? i : 0;
      AppendField(index.fields[f], fields[f].values[at], &encoded, &type_bits);
    }
    IndexRecord record;
    record.index = &index;
    record.key = storage::IndexKey(index.id, encoded, doc_key);
    record.value = storage::IndexValue(type_bits, encoded, doc_key);
    record.prefix_bytes = storage::IndexPrefix(index.id, encoded).size();
    out->push_back(std::move(record));
  }
  return absl::OkStatus();
}

absl::StatusOr<DocumentRecords> RecordsOf(const catalog::CollectionEntry& entry,
                                          bson::View document) {
  DocumentRecords records;
  EVENKEEL_ASSIGN_OR_RETURN(records.placement_key, entry.PlacementKeyOf(document));
  records.doc_key = storage::DocKey(entry.id, records.placement_key, document["_id"]);
  for (const catalog::IndexEntry& index : entry.indexes) {
    if (!HasRecords(entry, index)) continue;
    bool multikey = false;
    EVENKEEL_RETURN_IF_ERROR(
        AppendIndexRecords(index, document, records.doc_key, &records.indexes, &multikey));
    if (multikey) records.multikey.push_back(index.id);
  }
  if (records.indexes.size() > 1) {
    auto& all = records.indexes;
    std::sort(all.begin(), all.end(),
              [](const IndexRecord& a, const IndexRecord& b) { return a.key < b.key; });
    all.erase(
        std::unique(all.begin(), all.end(),
                    [](const IndexRecord& a, const IndexRecord& b) { return a.key == b.key; }),
        all.end());
  }
  return records;
}

namespace {

std::string BigEndian(uint64_t value) {
  const uint64_t bits = __builtin_bswap64(value);
  return std::string(reinterpret_cast<const char*>(&bits), sizeof(bits));
}

std::string RangeCounterKey(CollectionId collection, int64_t range_min) {
  return "c" + BigEndian(collection.value) + catalog::EncodeHash(range_min);
}

}  // namespace

std::string IndexCounterKey(IndexId index) { return "i" + BigEndian(index.value); }

std::string CounterKey(const catalog::CollectionEntry& entry, const catalog::Assignment* assignment,
                       std::string_view placement_key) {
  if (assignment == nullptr) return RangeCounterKey(entry.id, INT64_MIN);
  const int64_t hash = catalog::DecodeHash(placement_key);
  int64_t range_min = INT64_MIN;
  for (const catalog::HashRange& range : assignment->ranges()) {
    if (range.min > hash) break;
    range_min = range.min;
  }
  return RangeCounterKey(entry.id, range_min);
}

std::vector<std::string> CounterKeys(const catalog::CollectionEntry& entry,
                                     const catalog::Assignment* assignment, ShardId shard) {
  std::vector<std::string> keys;
  if (assignment == nullptr) keys.push_back(RangeCounterKey(entry.id, INT64_MIN));
  if (assignment != nullptr) {
    for (const catalog::HashRange& range : assignment->ranges()) {
      if (range.owner == shard) keys.push_back(RangeCounterKey(entry.id, range.min));
    }
  }
  return keys;
}

storage::Count CountOf(const storage::ReadSlice& slice, const catalog::CollectionEntry& entry,
                       const catalog::Assignment* assignment, ShardId shard) {
  storage::Count total;
  for (const std::string& key : CounterKeys(entry, assignment, shard)) {
    const storage::Count count = slice.Counter(key);
    total.documents += count.documents;
    total.bytes += count.bytes;
  }
  return total;
}

}  // namespace evenkeel::shard
