// MongoDB's comparison order over all BSON values.
//
// Source: "Comparison/Sort Order" in the MongoDB manual. MinKey < undefined/missing < null <
// numbers < symbol, string < object < array < BinData < ObjectId < bool < date < timestamp < regex
// < DBPointer < code < code with scope < MaxKey.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/bson/view.h"

namespace evenkeel::bson {

// Compares strings by a collation's rules; bytes where none is given. Implemented by query (ICU).
class StringComparator {
 public:
  virtual ~StringComparator() = default;
  virtual int Compare(std::string_view a, std::string_view b) const = 0;
  // Bytes that compare as the strings do: equal for strings that the rules do not tell apart.
  virtual std::string SortKey(std::string_view text) const = 0;
};

// The rank of a type in the comparison order; values of different ranks never equal. Missing and
// undefined share one rank below null.
int CanonicalRank(Type type);

// Negative, zero, positive. Numbers compare by mathematical value across widths (decimal included),
// NaN lowest and equal to itself, -0 equals 0. Objects compare field by field: type rank, then
// name, then value. Never fails.
int Compare(Value a, Value b, const StringComparator* collation = nullptr);

// Whole documents, field by field in order; ignoring the field names compares sort keys.
int CompareDocuments(View a, View b, const StringComparator* collation = nullptr,
                     bool with_names = true);

// True when the bytes and types are the same (1 and 1.0 are not).
bool Identical(Value a, Value b);

}  // namespace evenkeel::bson
