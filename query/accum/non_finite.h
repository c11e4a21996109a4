// Counts of the numbers that a running sum cannot lose again: infinities and NaN.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/bson/decimal.h"
#include "base/bson/number.h"

namespace evenkeel::query::accum {

// True for a number that is infinite or NaN.
inline bool IsNonFinite(bson::Value number) {
  if (number.Is(bson::Type::kDouble)) return !std::isfinite(number.AsDouble());
  if (!number.Is(bson::Type::kDecimal128)) return false;
  const bson::Decimal128Bits bits = number.AsDecimal128();
  return bson::DecimalIsNaN(bits) || bson::DecimalIsInfinite(bits);
}

class NonFinite {
 public:
  // `step` 1 adds a non-finite number, -1 takes it away; others are ignored.
  void Count(bson::Value number, int64_t step) {
    if (!IsNonFinite(number)) return;
    const double value = bson::ToDouble(number);
    (std::isnan(value) ? nan_ : value > 0 ? positive_ : negative_) += step;
  }
  bool empty() const { return nan_ == 0 && positive_ == 0 && negative_ == 0; }
  // Their sum. Requires some.
  double Sum() const {
    if (nan_ > 0 || (positive_ > 0 && negative_ > 0)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const double infinity = std::numeric_limits<double>::infinity();
    return positive_ > 0 ? infinity : -infinity;
  }

 private:
  int64_t nan_ = 0, positive_ = 0, negative_ = 0;
};

}  // namespace evenkeel::query::accum
