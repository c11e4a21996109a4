// Implements sort specifications, sort keys and their comparison.
#include "query/plan/sort_pattern.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"

namespace evenkeel::query {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

constexpr size_t kSortFieldsMax = 32;

const char kNoBytes = 0;
const Value kNull(Type::kNull, &kNoBytes);
const Value kUndefined(Type::kUndefined, &kNoBytes);

// How far one sort field has been followed into a document.
struct Walk {
  Value value;
  size_t next = 0;        // the part of the path to follow from `value`
  bool at_array = false;  // stands at an array that must be gone through
};

using Walks = absl::InlinedVector<Walk, 4>;
using Key = absl::InlinedVector<Value, 4>;

// Follows the path until it ends or meets an array. A numeric part picks an array's element.
Walk Follow(Walk walk, const bson::Path& path) {
  walk.at_array = false;
  while (walk.next < path.size()) {
    if (walk.value.Is(Type::kObject)) {
      walk.value = walk.value.AsDocument()[path.part(walk.next++)];
      continue;
    }
    if (!walk.value.Is(Type::kArray)) {
      walk.value = Value();
      break;
    }
    const Value element = bson::IsArrayIndex(path.part(walk.next))
                              ? walk.value.AsDocument()[path.part(walk.next)]
                              : Value();
    if (element.missing()) {
      walk.at_array = true;
      return walk;
    }
    walk.value = element;
    ++walk.next;
  }
  walk.next = path.size();
  walk.at_array = walk.value.Is(Type::kArray);
  return walk;
}

Walk Start(View document) { return {Value(Type::kObject, document.data()), 0, false}; }

Value OrNull(Value value) { return value.missing() ? kNull : value; }

int CompareFields(const std::vector<SortField>& fields, const Key& a, const Key& b,
                  const std::vector<size_t>& which, const bson::StringComparator* collation) {
  for (const size_t i : which) {
    const int order = bson::Compare(a[i], b[i], collation);
    if (order != 0) return fields[i].ascending ? order : -order;
  }
  return 0;
}

// Finds a document's key by going through its arrays.
class KeyFinder {
 public:
  KeyFinder(const std::vector<SortField>& fields, const bson::StringComparator* collation)
      : fields_(fields), collation_(collation) {}

  // Sets `key` at the positions `which`, whose walks start at `walks`.
  void Find(Walks walks, const std::vector<size_t>& which, Key* key) const {
    std::vector<size_t> open;
    for (const size_t i : which) {
      walks[i] = Follow(walks[i], fields_[i].path);
      if (walks[i].at_array) {
        open.push_back(i);
      } else {
        (*key)[i] = OrNull(walks[i].value);
      }
    }
    while (!open.empty()) {
      const char* array = walks[open.front()].value.data();
      std::vector<size_t> same, others;
      for (const size_t i : open) (walks[i].value.data() == array ? same : others).push_back(i);
      FindInArray(walks, same, key);
      open = std::move(others);
    }
  }

 private:
  // The best of the keys that the elements of one array give to the fields `which`.
  void FindInArray(const Walks& walks, const std::vector<size_t>& which, Key* key) const {
    bool first = true;
    Key candidate = *key;
    for (const Element& element : walks[which.front()].value.AsDocument()) {
      Walks inner = walks;
      std::vector<size_t> deeper;
      for (const size_t i : which) {
        if (walks[i].next == fields_[i].path.size()) {
          candidate[i] = element.value;  // an array in an array counts as a whole
        } else if (element.value.Is(Type::kObject)) {
          inner[i].value = element.value;
          deeper.push_back(i);
        } else {
          candidate[i] = kNull;
        }
      }
      if (!deeper.empty()) Find(std::move(inner), deeper, &candidate);
      if (first || CompareFields(fields_, candidate, *key, which, collation_) < 0) {
        for (const size_t i : which) (*key)[i] = candidate[i];
      }
      first = false;
    }
    if (!first) return;
    for (const size_t i : which) {
      (*key)[i] = walks[i].next == fields_[i].path.size() ? kUndefined : kNull;
    }
  }

  const std::vector<SortField>& fields_;
  const bson::StringComparator* collation_;
};

absl::Status CheckPath(std::string_view path) {
  if (path.empty())
    return Error(Location(40352), "FieldPath cannot be constructed with empty string");
  if (path.back() == '.') return Error(Location(40353), "FieldPath must not end with a '.'.");
  const bson::Path parts(path);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts.part(i).empty()) {
      return Error(Location(15998), "FieldPath field names may not be empty strings: '{}'", path);
    }
    if (i > 0 && parts.part(i)[0] == '$') {
      return Error(Location(16410), "FieldPath field names may not start with '$': '{}'", path);
    }
  }
  if (path[0] == '$')
    return Error(Location(16410), "FieldPath field names may not start with '$': '{}'", path);
  return absl::OkStatus();
}

// Sorting by metadata, of which none is kept. Errors: 40218 for a kind that the query does not
// make, 31138 for an unknown one.
absl::Status RefuseMeta(const Element& field) {
  constexpr std::string_view kKinds[] = {"geoNearDistance", "randVal",   "score",
                                         "searchScore",     "textScore", "vectorSearchScore"};
  const Value kind = field.value.AsDocument().Front().value;
  if (kind.Is(Type::kString) &&
      std::find(std::begin(kKinds), std::end(kKinds), kind.AsString()) != std::end(kKinds)) {
    return Error(Location(40218), "query requires {} metadata, but it is not available",
                 kind.AsString());
  }
  return Error(Location(31138), "Illegal $meta sort: {}: {}", field.key,
               bson::ToDisplay(field.value));
}

absl::StatusOr<bool> IsAscending(const Element& field) {
  if (field.value.Is(Type::kObject) && field.value.AsDocument().Front().key == "$meta") {
    return RefuseMeta(field);
  }
  if (!field.value.IsNumber()) {
    return Error(Location(15974), "Illegal key in $sort specification: {}: {}", field.key,
                 bson::ToDisplay(field.value));
  }
  const std::optional<int64_t> direction = bson::ToInt64Exact(field.value);
  if (direction != 1 && direction != -1) {
    return Error(Location(15975),
                 "$sort key ordering must be 1 (for ascending) or -1 (for descending): {}: {}",
                 field.key, bson::ToDisplay(field.value));
  }
  return *direction == 1;
}

}  // namespace

absl::StatusOr<SortPattern> SortPattern::Parse(View spec) {
  SortPattern pattern;
  pattern.spec_ = bson::Document(spec);
  for (const Element& field : spec) {
    EVENKEEL_ASSIGN_OR_RETURN(const bool ascending, IsAscending(field));
    EVENKEEL_RETURN_IF_ERROR(CheckPath(field.key));
    pattern.fields_.push_back({bson::Path(field.key), ascending});
  }
  if (pattern.fields_.size() > kSortFieldsMax) {
    return Error(Location(13103), "too many compound keys: at most {}", kSortFieldsMax);
  }
  return pattern;
}

bson::Document SortPattern::KeyOf(View document, const bson::StringComparator* collation) const {
  Key key(fields_.size(), kNull);
  std::vector<size_t> all;
  for (size_t i = 0; i < fields_.size(); ++i) all.push_back(i);
  KeyFinder(fields_, collation).Find(Walks(fields_.size(), Start(document)), all, &key);
  bson::Builder builder;
  bson::ArrayAppender values(builder);
  for (const Value value : key) values.Add(value);
  return builder.Finish();
}

int SortPattern::CompareKeys(View a, View b, const bson::StringComparator* collation) const {
  auto left = a.begin();
  auto right = b.begin();
  for (const SortField& field : fields_) {
    const int order = bson::Compare(left->value, right->value, collation);
    if (order != 0) return field.ascending ? order : -order;
    ++left;
    ++right;
  }
  return 0;
}

int SortPattern::CompareDocuments(View a, View b, const bson::StringComparator* collation) const {
  for (const SortField& field : fields_) {
    const Walk left = Follow(Start(a), field.path);
    const Walk right = Follow(Start(b), field.path);
    if (left.at_array || right.at_array) {
      return CompareKeys(KeyOf(a, collation), KeyOf(b, collation), collation);
    }
    const int order = bson::Compare(OrNull(left.value), OrNull(right.value), collation);
    if (order != 0) return field.ascending ? order : -order;
  }
  return 0;
}

}  // namespace evenkeel::query
