// decimal128: parts, text, conversion and arithmetic. The only door to the decimal library.
//
// Results are rounded to 34 digits, ties to even, as IEEE 754-2008 says; nothing fails: an invalid
// operation gives NaN. Any thread; no state is kept between calls.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bson/view.h"

namespace evenkeel::bson {

__extension__ typedef unsigned __int128 Uint128;  // GCC's and clang's, not in the standard

// A decimal taken apart: (-1)^negative * coefficient * 10^exponent.
struct DecimalParts {
  enum class Kind : uint8_t { kFinite, kInfinity, kNaN };
  Kind kind = Kind::kFinite;
  bool negative = false;
  Uint128 coefficient =
      0;             // below 10^34; 0 for the encodings that the standard calls non-canonical
  int exponent = 0;  // -6176 … 6111
};

inline constexpr int kDecimalDigitsMax = 34;
inline constexpr int kDecimalExponentMin = -6176;
inline constexpr int kDecimalExponentMax = 6111;

DecimalParts DecodeDecimal(Decimal128Bits bits);
// Requires coefficient and exponent within the bounds of DecimalParts.
Decimal128Bits EncodeDecimal(const DecimalParts& parts);

// 10^power, for power in [0, 38].
Uint128 PowerOfTen(int power);

Decimal128Bits DecimalFromDouble(double value);       // 15 significant digits, as MongoDB converts
Decimal128Bits DecimalFromDoubleExact(double value);  // 34 significant digits, for sums
Decimal128Bits DecimalFromInt64(int64_t value);
double DecimalToDouble(Decimal128Bits bits);

// The standard's scientific text: "1.5", "1E+3", "NaN", "Infinity".
std::string DecimalToString(Decimal128Bits bits);
// Errors: FailedToParse for text that is no decimal. More than 34 digits are rounded.
absl::StatusOr<Decimal128Bits> DecimalFromString(std::string_view text);

bool DecimalIsNaN(Decimal128Bits bits);
bool DecimalIsInfinite(Decimal128Bits bits);
bool DecimalIsZero(Decimal128Bits bits);
inline bool DecimalIsNegative(Decimal128Bits bits) { return (bits.high >> 63) != 0; }

Decimal128Bits DecimalAdd(Decimal128Bits a, Decimal128Bits b);
Decimal128Bits DecimalSubtract(Decimal128Bits a, Decimal128Bits b);
Decimal128Bits DecimalMultiply(Decimal128Bits a, Decimal128Bits b);
Decimal128Bits DecimalDivide(Decimal128Bits a, Decimal128Bits b);
Decimal128Bits DecimalModulo(Decimal128Bits a, Decimal128Bits b);  // sign of `a`
Decimal128Bits DecimalPower(Decimal128Bits base, Decimal128Bits exponent);
Decimal128Bits DecimalAtan2(Decimal128Bits y, Decimal128Bits x);

enum class DecimalFunction : uint8_t {
  kAbsolute,
  kNegate,
  kCeil,
  kFloor,
  kTruncate,
  kRoundHalfEven,
  kSqrt,
  kExp,
  kLn,
  kLog10,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
};
Decimal128Bits DecimalApply(DecimalFunction function, Decimal128Bits value);

// Rounds to a multiple of 10^exponent, ties to even or towards zero. The result has that exponent;
// NaN if it does not fit.
enum class DecimalRounding : uint8_t { kHalfEven, kTowardsZero };
Decimal128Bits DecimalQuantize(Decimal128Bits value, int exponent, DecimalRounding rounding);

}  // namespace evenkeel::bson
