// Replaces strings by their sort keys.
#include "base/bson/sort_keys.h"

#include "base/bson/builder.h"

namespace evenkeel::bson {
namespace {

// Depth: that of the value, which is bounded.
void AppendWithSortKeys(std::string_view name, Value value, const StringComparator& collation,
                        Builder& out) {
  switch (value.type()) {
    case Type::kString:
    case Type::kSymbol:
      out.Append(name, collation.SortKey(value.AsString()));
      return;
    case Type::kObject:
      out.OpenDocument(name);
      break;
    case Type::kArray:
      out.OpenArray(name);
      break;
    default:
      out.Append(name, value);
      return;
  }
  for (const auto& [key, element] : value.AsDocument()) {
    AppendWithSortKeys(key, element, collation, out);
  }
  out.Close();
}

}  // namespace

bool HasCollatedOrder(Value value) {
  return value.Is(Type::kString) || value.Is(Type::kSymbol) || value.Is(Type::kObject) ||
         value.Is(Type::kArray);
}

OwnedValue WithSortKeys(Value value, const StringComparator& collation) {
  if (!HasCollatedOrder(value)) return OwnedValue(value);
  Builder out;
  AppendWithSortKeys("", value, collation, out);
  return OwnedValue(out.Finish().view().Front().value);
}

}  // namespace evenkeel::bson
