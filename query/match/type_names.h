// BSON types by the aliases and numbers that $type, error messages and command checks use.
//
// Source: "BSON Types" and "$type" in the MongoDB manual.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bson/view.h"

namespace evenkeel::query {

// "double", "string", "object" …; "missing" for kEod.
std::string_view TypeAlias(bson::Type type);

// The type of an alias; nothing for unknown ones. "number" is not one type: see TypeSet.
std::optional<bson::Type> TypeFromAlias(std::string_view alias);

// The type of a number as in $type: 2 (-1 and 127 are the key types, 0 is none).
std::optional<bson::Type> TypeFromNumber(int64_t number);

// A set of BSON types.
class TypeSet {
 public:
  void Add(bson::Type type) { bits_.set(static_cast<uint8_t>(type)); }
  void AddNumbers() {
    for (const bson::Type type :
         {bson::Type::kDouble, bson::Type::kInt32, bson::Type::kInt64, bson::Type::kDecimal128}) {
      Add(type);
    }
  }
  bool Contains(bson::Type type) const { return bits_.test(static_cast<uint8_t>(type)); }
  bool empty() const { return bits_.none(); }

 private:
  std::bitset<256> bits_;
};

}  // namespace evenkeel::query
