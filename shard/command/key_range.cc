// Implements the range of index keys of min and max.
#include "shard/command/key_range.h"

#include <vector>

#include "base/bson/compare.h"
#include "base/bson/json.h"
#include "base/status.h"
#include "shard/command/index_values.h"

namespace evenkeel::shard {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

const catalog::IndexEntry* FindHinted(const catalog::CollectionEntry& entry, Value hint) {
  if (hint.Is(Type::kString)) return entry.FindIndex(hint.AsString());
  if (!hint.Is(Type::kObject)) return nullptr;
  for (const catalog::IndexEntry& index : entry.indexes) {
    const Value key = index.spec["key"];
    if (key.Is(Type::kObject) && bson::CompareDocuments(key.AsDocument(), hint.AsDocument()) == 0) {
      return &index;
    }
  }
  return nullptr;
}

absl::Status CheckFields(const catalog::IndexEntry& index, View bound, std::string_view name) {
  size_t at = 0;
  bool same = true;
  for (const Element& field : bound) {
    same = same && at < index.fields.size() && index.fields[at].path.dotted() == field.key;
    ++at;
  }
  if (at == 0 || (same && at == index.fields.size())) return absl::OkStatus();
  return Error(Location(51174), "the fields of {} {} are not those of the index {}", name,
               bson::ToJson(bound), index.name);
}

std::vector<Value> ValuesOf(View bound) {
  std::vector<Value> values;
  for (const Element& field : bound) values.push_back(field.value);
  return values;
}

}  // namespace

absl::StatusOr<KeyRange> KeyRange::Parse(const catalog::CollectionEntry& entry, Value hint,
                                         View min, View max) {
  if (hint.missing()) {
    return MakeError(Location(51173),
                     "When using min()/max() a hint of which index to use must be provided");
  }
  const catalog::IndexEntry* index = FindHinted(entry, hint);
  if (index == nullptr) {
    return Error(ErrorCode::kBadValue, "hint provided does not correspond to an existing index: {}",
                 bson::ToDisplay(hint));
  }
  EVENKEEL_RETURN_IF_ERROR(CheckFields(*index, min, "min"));
  EVENKEEL_RETURN_IF_ERROR(CheckFields(*index, max, "max"));
  KeyRange range(*index, min, max);
  if (!min.empty() && !max.empty() && range.Order(ValuesOf(min).data(), max) >= 0) {
    return MakeError(Location(51175), "The value provided for min() does not come before max()");
  }
  return range;
}

int KeyRange::Order(const Value* key, View bound) const {
  size_t at = 0;
  for (const Element& field : bound) {
    static const char kNothing = 0;
    const Value value = key[at].missing() ? Value(Type::kNull, &kNothing) : key[at];
    const int order = bson::Compare(value, field.value, index_->collation);
    if (order != 0) {
      return index_->fields[at].direction == storage::Direction::kAscending ? order : -order;
    }
    ++at;
  }
  return 0;
}

bool KeyRange::Contains(View document) const {
  const auto keys = IndexValuesOf(*index_, document);
  if (!keys.ok()) return false;
  const size_t count = index_->fields.size();
  for (size_t at = 0; at < keys->values.size(); at += count) {
    const Value* key = keys->values.data() + at;
    const bool from = min_.empty() || Order(key, min_) >= 0;
    if (from && (max_.empty() || Order(key, max_) < 0)) return true;
  }
  return false;
}

}  // namespace evenkeel::shard
