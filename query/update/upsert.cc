// Implements building an upsert's document from its filter.
#include "query/update/upsert.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/path.h"
#include "base/status.h"
#include "query/match/type_names.h"

namespace evenkeel::query::update {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

// Equalities sorted by path; those that share parts stand together.
struct Equality {
  bson::Path path;
  Value value;
};

bool IsBelow(const std::string& inner, const std::string& outer) {
  return inner.size() > outer.size() && inner.starts_with(outer) && inner[outer.size()] == '.';
}

// Appends the equalities [begin, end), which share the parts before `depth`.
void AppendNested(bson::Builder& builder, const Equality* begin, const Equality* end,
                  size_t depth) {
  while (begin != end) {
    const std::string_view part = begin->path.part(depth);
    const Equality* next = begin + 1;
    while (next != end && next->path.part(depth) == part) ++next;
    if (begin->path.size() == depth + 1) {
      builder.Append(part, begin->value);
    } else {
      builder.OpenDocument(part);
      AppendNested(builder, begin, next, depth + 1);
      builder.Close();
    }
    begin = next;
  }
}

}  // namespace

absl::StatusOr<bson::Document> DocumentFromFilter(const Filter& filter) {
  std::vector<Equality> equalities;
  for (const Element& element : filter.Equalities()) {
    equalities.push_back({bson::Path(element.key), element.value});
  }
  // By parts, so that "a" < "a.b" < "a-b".
  std::sort(equalities.begin(), equalities.end(), [](const Equality& a, const Equality& b) {
    for (size_t i = 0; i < a.path.size() && i < b.path.size(); ++i) {
      const int order = a.path.part(i).compare(b.path.part(i));
      if (order != 0) return order < 0;
    }
    return a.path.size() < b.path.size();
  });
  for (size_t i = 1; i < equalities.size(); ++i) {
    const std::string& before = equalities[i - 1].path.dotted();
    const std::string& path = equalities[i].path.dotted();
    if (path == before) {
      return Error(ErrorCode::kNotSingleValueField,
                   "cannot infer query fields to set, path '{}' is matched twice", path);
    }
    if (IsBelow(path, before)) {
      return Error(ErrorCode::kNotSingleValueField,
                   "cannot infer query fields to set, both paths '{}' and '{}' are matched", before,
                   path);
    }
  }
  bson::Builder builder;
  AppendNested(builder, equalities.data(), equalities.data() + equalities.size(), 0);
  return builder.Finish();
}

absl::Status CheckId(Value id) {
  switch (id.type()) {
    case Type::kArray:
    case Type::kRegex:
    case Type::kUndefined:
      return Error(ErrorCode::kInvalidIdField, "The '_id' value cannot be of type {}",
                   TypeAlias(id.type()));
    case Type::kObject: {
      const std::string_view first = id.AsDocument().Front().key;
      if (first.starts_with('$')) {
        return Error(ErrorCode::kDollarPrefixedFieldName,
                     "_id fields may not contain '$'-prefixed fields: {} is not valid for storage.",
                     first);
      }
      return absl::OkStatus();
    }
    default:
      return absl::OkStatus();
  }
}

absl::StatusOr<bson::Document> WithIdFirst(View document) {
  const Value id = document["_id"];
  EVENKEEL_RETURN_IF_ERROR(CheckId(id));
  if (document.Front().key == "_id") return bson::Document(document);
  bson::Builder builder;
  if (id.missing()) {
    builder.AppendObjectId("_id", bson::NewObjectId());
  } else {
    builder.Append("_id", id);
  }
  for (const Element& element : document) {
    if (element.key != "_id") builder.Append(element.key, element.value);
  }
  return builder.Finish();
}

}  // namespace evenkeel::query::update
