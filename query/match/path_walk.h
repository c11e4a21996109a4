// Visits the values that a dotted path reaches in a document, by the rules of queries over arrays.
//
// An array on the way is entered: its objects are searched for the rest of the path, and a numeric
// part also picks the element of that position. At the end of the path an array gives its elements
// and then itself, or only itself. Nothing is allocated. Source: "Query an Array", "Query an Array
// of Embedded Documents" in the MongoDB manual.
#pragma once

#include <cstdint>

#include "base/bson/path.h"
#include "base/bson/view.h"

namespace evenkeel::query::match {

// What an array at the end of a path gives.
enum class LeafArrays : uint8_t {
  kEachAndWhole,
  kWhole,
};

// The position in the outermost array on the way to a value; none where no array was entered.
inline constexpr int64_t kNoPosition = -1;

template <typename Visit>
bool WalkFrom(bson::Value value, const bson::Path& path, size_t next, LeafArrays leaf,
              int64_t position, Visit&& visit);

// Enters an array in the middle of the path: `next` is the part to look for in its elements.
template <typename Visit>
bool WalkArray(bson::View array, const bson::Path& path, size_t next, LeafArrays leaf,
               int64_t position, Visit&& visit) {
  const std::string_view part = path.part(next);
  const bool numeric = bson::IsArrayIndex(part);
  int64_t index = 0;
  for (const bson::Element& element : array) {
    const int64_t here = position == kNoPosition ? index : position;
    ++index;
    const bson::Value value = element.value;
    if (value.Is(bson::Type::kObject) && WalkFrom(value, path, next, leaf, here, visit))
      return true;
    if (!numeric || element.key != part) continue;
    if (next + 1 == path.size()) {
      if (visit(value, here)) return true;
    } else if (value.Is(bson::Type::kObject)) {
      if (WalkFrom(value, path, next + 1, leaf, here, visit)) return true;
    } else if (value.Is(bson::Type::kArray)) {
      // An array directly inside an array is read by position only.
      const bson::Value inner = value.AsDocument()[path.part(next + 1)];
      if (!inner.missing() && WalkFrom(inner, path, next + 2, leaf, here, visit)) return true;
    }
  }
  return false;
}

// Calls `visit(value, position)` for every value that the parts from `next` on reach from `value`,
// until it returns true; the result says whether it did. A path that ends nowhere visits a missing
// value once.
template <typename Visit>
bool WalkFrom(bson::Value value, const bson::Path& path, size_t next, LeafArrays leaf,
              int64_t position, Visit&& visit) {
  for (; next < path.size(); ++next) {
    if (value.Is(bson::Type::kArray)) {
      return WalkArray(value.AsDocument(), path, next, leaf, position, visit);
    }
    if (!value.Is(bson::Type::kObject)) return visit(bson::Value(), position);
    value = value.AsDocument()[path.part(next)];
  }
  if (leaf == LeafArrays::kEachAndWhole && value.Is(bson::Type::kArray)) {
    int64_t index = 0;
    for (const bson::Element& element : value.AsDocument()) {
      if (visit(element.value, position == kNoPosition ? index : position)) return true;
      ++index;
    }
  }
  return visit(value, position);
}

}  // namespace evenkeel::query::match
