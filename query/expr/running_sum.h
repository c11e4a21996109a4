// Sums numbers of any width so that the order of adding matters as little as possible.
//
// Integers are added exactly in 128 bits, doubles with their rounding errors kept in a second
// double, decimals apart; Result puts the parts together in the widest type seen. Sums of parts can
// be merged and sent to another process.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bson/builder.h"
#include "base/bson/decimal.h"
#include "base/bson/number.h"
#include "base/bson/view.h"
#include "query/expr/arena.h"

namespace evenkeel::query::expr {

__extension__ typedef __int128 Int128;  // GCC's and clang's, not in the standard

class RunningSum {
 public:
  // Requires a number.
  void Add(bson::Value value);
  void Merge(const RunningSum& other);

  // The sum: int32 while only those were added and it fits, then int64, then double; 0 when nothing
  // was added.
  bson::Number Total() const;
  bson::Value Result(EvalArena& arena) const { return arena.Number(Total()); }
  // The total divided by `count`: a decimal when one was added, else a double. Requires count > 0.
  bson::Number Average(int64_t count) const;
  // The total as a double (decimals rounded).
  double AsDouble() const;
  // The total as a decimal with 34 digits.
  bson::Decimal128Bits AsDecimal() const;
  // The total rounded to whole milliseconds, ties away from zero; nothing when it is no int64.
  std::optional<int64_t> AsMilliseconds() const;
  // The widest type added so far.
  bson::Type type() const { return type_; }

  // All parts as an array value of `builder`, read back by Deserialize.
  void Serialize(bson::Builder& builder, std::string_view key) const;
  static RunningSum Deserialize(bson::Value state);

 private:
  void AddDouble(double value);

  bson::Type type_ = bson::Type::kInt32;
  Int128 integers_ = 0;
  double doubles_ = 0;  // the sum of the doubles and what it lost to rounding
  double lost_ = 0;
  bool special_ = false;  // an infinity or NaN took part: lost_ means nothing
  bson::Decimal128Bits decimals_ = bson::DecimalFromInt64(0);
};

}  // namespace evenkeel::query::expr
