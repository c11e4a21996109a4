// Finds readers of metadata.
#include "query/expr/meta.h"

namespace evenkeel::query {

std::string_view MetaField(std::string_view kind) {
  for (const MetaKind& each : kMetaKinds) {
    if (each.name == kind) return each.field;
  }
  return {};
}

std::string_view MetaKindOf(bson::Value value) {
  if (!value.Is(bson::Type::kObject)) return {};
  const bson::Element only = value.AsDocument().Front();
  if (only.key != "$meta" || !only.value.Is(bson::Type::kString)) return {};
  const std::string_view kind = only.value.AsString();
  return MetaField(kind).empty() ? std::string_view() : kind;
}

bool ReadsMeta(bson::Value value, std::string_view kind) {
  if (MetaKindOf(value) == kind) return true;
  if (!value.Is(bson::Type::kObject) && !value.Is(bson::Type::kArray)) return false;
  for (const bson::Element& element : value.AsDocument()) {
    if (ReadsMeta(element.value, kind)) return true;
  }
  return false;
}

}  // namespace evenkeel::query
