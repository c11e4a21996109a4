// Implements decimal128 over the decimal library (arithmetic) and libbson (text).
#include "base/bson/decimal.h"

// How the distribution's libbidgcc000 was compiled: arguments by value, rounding mode and flags as
// arguments.
#define DECIMAL_CALL_BY_REFERENCE 0
#define DECIMAL_GLOBAL_ROUNDING 0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>
#include <bson/bson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "base/status.h"

namespace evenkeel::bson {
namespace {

using Kind = DecimalParts::Kind;

constexpr int kExponentShift = 49;
constexpr uint64_t kExponentMask = 0x3FFF;
constexpr uint64_t kCoefficientHighMask = (uint64_t{1} << kExponentShift) - 1;
constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr uint64_t kInfinityHigh = uint64_t{0x1E} << 58;
constexpr uint64_t kNaNHigh = uint64_t{0x1F} << 58;

constexpr std::array<Uint128, 39> MakePowers() {
  std::array<Uint128, 39> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<Uint128, 39> kPowers = MakePowers();

BID_UINT128 ToBid(Decimal128Bits bits) { return {{bits.low, bits.high}}; }
Decimal128Bits FromBid(BID_UINT128 value) { return {value.w[0], value.w[1]}; }

// Calls a function of the library that takes decimals, a rounding mode and flags.
template <typename Function, typename... Args>
Decimal128Bits Call(Function function, Args... args) {
  _IDEC_flags flags = 0;
  return FromBid(function(ToBid(args)..., BID_ROUNDING_TO_NEAREST, &flags));
}

// The same for the functions that do not round.
template <typename Function, typename... Args>
Decimal128Bits CallExact(Function function, Args... args) {
  _IDEC_flags flags = 0;
  return FromBid(function(ToBid(args)..., &flags));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// True for [+-] digits [. digits] [e [+-] digits], with at least one digit before the exponent.
bool IsNumeral(std::string_view text) {
  size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  const size_t whole = at;
  at = SkipDigits(text, at);
  size_t digits = at - whole;
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = ++at;
    at = SkipDigits(text, at);
    digits += at - fraction;
  }
  if (digits == 0) return false;
  if (at == text.size()) return true;
  if (text[at] != 'e' && text[at] != 'E') return false;
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return at < text.size() && SkipDigits(text, at) == text.size();
}

}  // namespace

Uint128 PowerOfTen(int power) {
  EVENKEEL_DCHECK(power >= 0 && power < static_cast<int>(kPowers.size()));
  return kPowers[static_cast<size_t>(power)];
}

DecimalParts DecodeDecimal(Decimal128Bits bits) {
  DecimalParts parts;
  parts.negative = (bits.high & kSignBit) != 0;
  if ((bits.high & kNaNHigh) == kNaNHigh) {
    parts.kind = Kind::kNaN;
    return parts;
  }
  if ((bits.high & kInfinityHigh) == kInfinityHigh) {
    parts.kind = Kind::kInfinity;
    return parts;
  }
  if ((bits.high >> 61 & 3) == 3) {
    // The second form would begin its coefficient above 10^34: it counts as zero.
    parts.exponent = static_cast<int>(bits.high >> 47 & kExponentMask) + kDecimalExponentMin;
    return parts;
  }
  parts.exponent =
      static_cast<int>(bits.high >> kExponentShift & kExponentMask) + kDecimalExponentMin;
  parts.coefficient = Uint128{bits.high & kCoefficientHighMask} << 64 | bits.low;
  if (parts.coefficient >= PowerOfTen(kDecimalDigitsMax)) parts.coefficient = 0;
  return parts;
}

Decimal128Bits EncodeDecimal(const DecimalParts& parts) {
  const uint64_t sign = parts.negative ? kSignBit : 0;
  if (parts.kind == Kind::kNaN) return {0, sign | kNaNHigh};
  if (parts.kind == Kind::kInfinity) return {0, sign | kInfinityHigh};
  EVENKEEL_DCHECK(parts.coefficient < PowerOfTen(kDecimalDigitsMax));
  EVENKEEL_DCHECK(parts.exponent >= kDecimalExponentMin && parts.exponent <= kDecimalExponentMax);
  const auto exponent = static_cast<uint64_t>(parts.exponent - kDecimalExponentMin);
  return {static_cast<uint64_t>(parts.coefficient),
          sign | exponent << kExponentShift | static_cast<uint64_t>(parts.coefficient >> 64)};
}

Decimal128Bits DecimalFromDouble(double value) {
  constexpr int kDigits = 15;
  if (!std::isfinite(value) || value == 0) return DecimalFromDoubleExact(value);
  // Text such as "-1.23456789012345e-07": digits at fixed places.
  char text[40];
  std::snprintf(text, sizeof(text), "%.*e", kDigits - 1, std::fabs(value));
  DecimalParts parts;
  parts.negative = value < 0;
  for (const char* at = text; *at != 'e'; ++at) {
    if (IsDigit(*at)) parts.coefficient = parts.coefficient * 10 + static_cast<unsigned>(*at - '0');
  }
  const std::string_view shown(text);
  parts.exponent = std::atoi(text + shown.find('e') + 1) - (kDigits - 1);
  return EncodeDecimal(parts);
}

Decimal128Bits DecimalFromDoubleExact(double value) {
  _IDEC_flags flags = 0;
  return FromBid(binary64_to_bid128(value, BID_ROUNDING_TO_NEAREST, &flags));
}

Decimal128Bits DecimalFromInt64(int64_t value) {
  DecimalParts parts;
  parts.negative = value < 0;
  parts.coefficient = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return EncodeDecimal(parts);
}

double DecimalToDouble(Decimal128Bits bits) {
  _IDEC_flags flags = 0;
  return bid128_to_binary64(ToBid(bits), BID_ROUNDING_TO_NEAREST, &flags);
}

std::string DecimalToString(Decimal128Bits bits) {
  bson_decimal128_t decimal;
  decimal.low = bits.low;
  decimal.high = bits.high;
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&decimal, text);
  return text;
}

absl::StatusOr<Decimal128Bits> DecimalFromString(std::string_view text) {
  if (IsNumeral(text)) {
    std::string copy(text);
    _IDEC_flags flags = 0;
    return FromBid(bid128_from_string(copy.data(), BID_ROUNDING_TO_NEAREST, &flags));
  }
  const bool negative = !text.empty() && text[0] == '-';
  const bool has_sign = negative || (!text.empty() && text[0] == '+');
  const std::string_view word = text.substr(has_sign ? 1 : 0);
  if (EqualsIgnoringCase(word, "nan")) return EncodeDecimal({.kind = Kind::kNaN});
  if (EqualsIgnoringCase(word, "inf") || EqualsIgnoringCase(word, "infinity")) {
    return EncodeDecimal({.kind = Kind::kInfinity, .negative = negative});
  }
  return Error(ErrorCode::kFailedToParse, "'{}' is not a decimal number", text);
}

bool DecimalIsNaN(Decimal128Bits bits) { return (bits.high & kNaNHigh) == kNaNHigh; }

bool DecimalIsInfinite(Decimal128Bits bits) {
  return (bits.high & kNaNHigh) != kNaNHigh && (bits.high & kInfinityHigh) == kInfinityHigh;
}

bool DecimalIsZero(Decimal128Bits bits) {
  const DecimalParts parts = DecodeDecimal(bits);
  return parts.kind == Kind::kFinite && parts.coefficient == 0;
}

Decimal128Bits DecimalAdd(Decimal128Bits a, Decimal128Bits b) { return Call(bid128_add, a, b); }

Decimal128Bits DecimalSubtract(Decimal128Bits a, Decimal128Bits b) {
  return Call(bid128_sub, a, b);
}

Decimal128Bits DecimalMultiply(Decimal128Bits a, Decimal128Bits b) {
  return Call(bid128_mul, a, b);
}

Decimal128Bits DecimalDivide(Decimal128Bits a, Decimal128Bits b) { return Call(bid128_div, a, b); }

Decimal128Bits DecimalModulo(Decimal128Bits a, Decimal128Bits b) {
  return CallExact(bid128_fmod, a, b);
}

Decimal128Bits DecimalPower(Decimal128Bits base, Decimal128Bits exponent) {
  return Call(bid128_pow, base, exponent);
}

Decimal128Bits DecimalAtan2(Decimal128Bits y, Decimal128Bits x) { return Call(bid128_atan2, y, x); }

Decimal128Bits DecimalApply(DecimalFunction function, Decimal128Bits value) {
  switch (function) {
    case DecimalFunction::kAbsolute:
      return {value.low, value.high & ~kSignBit};
    case DecimalFunction::kNegate:
      return {value.low, value.high ^ kSignBit};
    case DecimalFunction::kCeil:
      return CallExact(bid128_round_integral_positive, value);
    case DecimalFunction::kFloor:
      return CallExact(bid128_round_integral_negative, value);
    case DecimalFunction::kTruncate:
      return CallExact(bid128_round_integral_zero, value);
    case DecimalFunction::kRoundHalfEven:
      return CallExact(bid128_round_integral_nearest_even, value);
    case DecimalFunction::kSqrt:
      return Call(bid128_sqrt, value);
    case DecimalFunction::kExp:
      return Call(bid128_exp, value);
    case DecimalFunction::kLn:
      return Call(bid128_log, value);
    case DecimalFunction::kLog10:
      return Call(bid128_log10, value);
    case DecimalFunction::kSin:
      return Call(bid128_sin, value);
    case DecimalFunction::kCos:
      return Call(bid128_cos, value);
    case DecimalFunction::kTan:
      return Call(bid128_tan, value);
    case DecimalFunction::kAsin:
      return Call(bid128_asin, value);
    case DecimalFunction::kAcos:
      return Call(bid128_acos, value);
    case DecimalFunction::kAtan:
      return Call(bid128_atan, value);
    case DecimalFunction::kSinh:
      return Call(bid128_sinh, value);
    case DecimalFunction::kCosh:
      return Call(bid128_cosh, value);
    case DecimalFunction::kTanh:
      return Call(bid128_tanh, value);
    case DecimalFunction::kAsinh:
      return Call(bid128_asinh, value);
    case DecimalFunction::kAcosh:
      return Call(bid128_acosh, value);
    case DecimalFunction::kAtanh:
      return Call(bid128_atanh, value);
  }
  return value;
}

Decimal128Bits DecimalQuantize(Decimal128Bits value, int exponent, DecimalRounding rounding) {
  const int clamped = std::clamp(exponent, kDecimalExponentMin, kDecimalExponentMax);
  const Decimal128Bits unit = EncodeDecimal({.coefficient = 1, .exponent = clamped});
  const _IDEC_round mode =
      rounding == DecimalRounding::kHalfEven ? BID_ROUNDING_TO_NEAREST : BID_ROUNDING_TO_ZERO;
  _IDEC_flags flags = 0;
  return FromBid(bid128_quantize(ToBid(value), ToBid(unit), mode, &flags));
}

}  // namespace evenkeel::bson
