// Hashing of BSON values so that values that compare equal hash alike, and sets of values built on
// it.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>

#include "base/bson/compare.h"
#include "base/bson/view.h"

namespace evenkeel::query::expr {

// A hash that agrees with bson::Compare: 1, 1.0 and NumberDecimal("1.00") are alike; so are missing
// and undefined. Strings hash by their sort keys where the comparator is a Collation; any other
// comparator alone knows what is equal, so all strings hash alike.
uint64_t HashOf(bson::Value value, const bson::StringComparator* collation = nullptr);

struct ValueHash {
  const bson::StringComparator* collation = nullptr;
  size_t operator()(bson::Value value) const { return HashOf(value, collation); }
};

struct ValueEqual {
  const bson::StringComparator* collation = nullptr;
  bool operator()(bson::Value a, bson::Value b) const {
    return bson::Compare(a, b, collation) == 0;
  }
};

// Holds views: their bytes live elsewhere.
using ValueSet = absl::flat_hash_set<bson::Value, ValueHash, ValueEqual>;

inline ValueSet MakeValueSet(const bson::StringComparator* collation) {
  return ValueSet(0, ValueHash{collation}, ValueEqual{collation});
}

}  // namespace evenkeel::query::expr
