// Implements promotion, exact comparison and conversion of numbers.
#include "base/bson/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace evenkeel::bson {
namespace {

using Kind = DecimalParts::Kind;

constexpr double kTwoTo63 = 0x1p63;

template <typename T>
int Sign(T a, T b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

bool IsInteger(Type type) { return type == Type::kInt32 || type == Type::kInt64; }

int64_t IntegerOf(Value value) {
  return value.Is(Type::kInt32) ? value.AsInt32() : value.AsInt64();
}

double DoubleOf(const Number& number) {
  return number.type == Type::kDouble ? number.real : static_cast<double>(number.integer);
}

int CompareDoubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return Sign(!std::isnan(a), !std::isnan(b));
  return Sign(a, b);
}

int CompareInt64WithDouble(int64_t a, double b) {
  if (std::isnan(b)) return 1;
  if (b >= kTwoTo63) return -1;
  if (b < -kTwoTo63) return 1;
  const auto whole = static_cast<int64_t>(b);
  if (a != whole) return Sign(a, whole);
  return Sign(static_cast<double>(whole), b);  // exact: a double with a fraction is below 2^53
}

// Number of decimal digits. Requires number > 0.
int DigitCount(Uint128 number) {
  const auto high = static_cast<uint64_t>(number >> 64);
  const auto low = static_cast<uint64_t>(number);
  const int bits = static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
  const int below = bits * 1233 >> 12;  // 1233 / 4096 is log10(2), close enough up to 128 bits
  return below + (number >= PowerOfTen(below) ? 1 : 0);
}

// Compares a * 10^a_exponent with b * 10^b_exponent. Requires both coefficients non-zero and of at
// most 34 digits.
int CompareMagnitudes(Uint128 a, int a_exponent, Uint128 b, int b_exponent) {
  const int a_order = DigitCount(a) + a_exponent;
  const int b_order = DigitCount(b) + b_exponent;
  if (a_order != b_order) return Sign(a_order, b_order);
  // Equal order: the scaled coefficient has as many digits as the other, so it fits.
  if (a_exponent > b_exponent) return Sign(a * PowerOfTen(a_exponent - b_exponent), b);
  return Sign(a, b * PowerOfTen(b_exponent - a_exponent));
}

// Orders by sign where that decides: the sign of each side is -1, 0 or 1. Sets `*decided` otherwise
// to false.
int CompareSigns(int a, int b, bool* decided) {
  *decided = a != b || a == 0;
  return Sign(a, b);
}

int SignOf(const DecimalParts& parts) {
  if (parts.kind == Kind::kFinite && parts.coefficient == 0) return 0;
  return parts.negative ? -1 : 1;
}

int CompareDecimals(const DecimalParts& a, const DecimalParts& b) {
  if (a.kind == Kind::kNaN || b.kind == Kind::kNaN) {
    return Sign(a.kind != Kind::kNaN, b.kind != Kind::kNaN);
  }
  bool decided = false;
  const int sign = SignOf(a);
  const int order = CompareSigns(sign, SignOf(b), &decided);
  if (decided) return order;
  if (a.kind == Kind::kInfinity || b.kind == Kind::kInfinity) {
    return sign * Sign(a.kind == Kind::kInfinity, b.kind == Kind::kInfinity);
  }
  return sign * CompareMagnitudes(a.coefficient, a.exponent, b.coefficient, b.exponent);
}

// A natural number below 2^1280: room for both sides of the exact comparison of a double with a
// decimal of nearly the same size, which stay below 2^1100: 53 bits times 5^360, or 10^311.
class BigNatural {
 public:
  explicit BigNatural(Uint128 value) {
    limbs_[0] = static_cast<uint64_t>(value);
    limbs_[1] = static_cast<uint64_t>(value >> 64);
    size_ = 2;
  }

  void MultiplyBy(uint64_t factor) {
    uint64_t carry = 0;
    for (size_t i = 0; i < size_; ++i) {
      const Uint128 product = Uint128{limbs_[i]} * factor + carry;
      limbs_[i] = static_cast<uint64_t>(product);
      carry = static_cast<uint64_t>(product >> 64);
    }
    if (carry != 0) Push(carry);
  }

  void MultiplyByPowerOfFive(int power) {
    constexpr int kStep = 27;  // 5^27 is the largest power of five below 2^64
    constexpr uint64_t kFiveTo27 = 7450580596923828125u;
    for (; power >= kStep; power -= kStep) MultiplyBy(kFiveTo27);
    for (; power > 0; --power) MultiplyBy(5);
  }

  void ShiftLeft(int bits) {
    MultiplyBy(uint64_t{1} << bits % 64);
    const auto whole = static_cast<size_t>(bits / 64);
    EVENKEEL_CHECK(size_ + whole <= kLimbs);
    std::copy_backward(limbs_.begin(), limbs_.begin() + size_, limbs_.begin() + size_ + whole);
    std::fill_n(limbs_.begin(), whole, 0);
    size_ += whole;
  }

  int CompareWith(const BigNatural& other) const {
    for (size_t i = kLimbs; i-- > 0;) {
      if (limbs_[i] != other.limbs_[i]) return Sign(limbs_[i], other.limbs_[i]);
    }
    return 0;
  }

 private:
  static constexpr size_t kLimbs = 20;

  void Push(uint64_t limb) {
    EVENKEEL_CHECK(size_ < kLimbs);
    limbs_[size_++] = limb;
  }

  std::array<uint64_t, kLimbs> limbs_{};
  size_t size_ = 0;
};

// Compares |a| with the magnitude of `b`. Requires a finite and non-zero, b finite and non-zero.
int CompareDoubleMagnitude(double a, const DecimalParts& b) {
  int binary_exponent = 0;
  constexpr int kMantissaBits = 53;
  const double fraction = std::frexp(std::fabs(a), &binary_exponent);
  // The number of digits before the point, within two: most pairs differ by more.
  const int a_order = static_cast<int>(std::floor(binary_exponent * 0.30103));
  const int b_order = DigitCount(b.coefficient) + b.exponent;
  if (b_order > a_order + 2) return -1;
  if (b_order < a_order - 1) return 1;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, kMantissaBits));
  binary_exponent -= kMantissaBits;
  // mantissa * 2^binary_exponent against coefficient * 5^exponent * 2^exponent: negative powers go
  // to the other side.
  BigNatural left(mantissa);
  BigNatural right(b.coefficient);
  if (b.exponent >= 0) {
    right.MultiplyByPowerOfFive(b.exponent);
  } else {
    left.MultiplyByPowerOfFive(-b.exponent);
  }
  const int shift = binary_exponent - b.exponent;
  if (shift >= 0) {
    left.ShiftLeft(shift);
  } else {
    right.ShiftLeft(-shift);
  }
  return left.CompareWith(right);
}

int CompareDoubleWithDecimal(double a, const DecimalParts& b) {
  if (std::isnan(a) || b.kind == Kind::kNaN) return Sign(!std::isnan(a), b.kind != Kind::kNaN);
  bool decided = false;
  const int sign = Sign(a, 0.0);
  const int order = CompareSigns(sign, SignOf(b), &decided);
  if (decided) return order;
  if (std::isinf(a) || b.kind == Kind::kInfinity) {
    return sign * Sign(std::isinf(a), b.kind == Kind::kInfinity);
  }
  return sign * CompareDoubleMagnitude(a, b);
}

int CompareWithDecimal(Value a, Value decimal) {
  const DecimalParts parts = DecodeDecimal(decimal.AsDecimal128());
  if (a.Is(Type::kDouble)) return CompareDoubleWithDecimal(a.AsDouble(), parts);
  const Decimal128Bits bits =
      a.Is(Type::kDecimal128) ? a.AsDecimal128() : DecimalFromInt64(IntegerOf(a));
  return CompareDecimals(DecodeDecimal(bits), parts);
}

int64_t ClampedToInt64(Uint128 magnitude, bool negative) {
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (negative) {
    if (magnitude > kMax) return std::numeric_limits<int64_t>::min();
    return -static_cast<int64_t>(magnitude);
  }
  return magnitude > kMax ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(magnitude);
}

// The whole part of a decimal's magnitude, 2^127 where it is larger than any int64. Sets `*exact`
// if nothing was cut off.
Uint128 WholeMagnitude(const DecimalParts& parts, bool* exact) {
  constexpr Uint128 kHuge = Uint128{1} << 127;
  *exact = true;
  if (parts.coefficient == 0) return 0;
  if (parts.exponent >= 0) {
    if (DigitCount(parts.coefficient) + parts.exponent > 20) return kHuge;
    return parts.coefficient * PowerOfTen(parts.exponent);
  }
  if (-parts.exponent > kDecimalDigitsMax) {
    *exact = false;
    return 0;
  }
  const Uint128 unit = PowerOfTen(-parts.exponent);
  *exact = parts.coefficient % unit == 0;
  return parts.coefficient / unit;
}

int64_t TruncateDouble(double value) {
  if (std::isnan(value)) return 0;
  if (value >= kTwoTo63) return std::numeric_limits<int64_t>::max();
  if (value < -kTwoTo63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

int64_t TruncateDecimal(Decimal128Bits bits) {
  const DecimalParts parts = DecodeDecimal(bits);
  if (parts.kind == Kind::kNaN) return 0;
  bool exact = false;
  const Uint128 magnitude =
      parts.kind == Kind::kInfinity ? Uint128{1} << 127 : WholeMagnitude(parts, &exact);
  return ClampedToInt64(magnitude, parts.negative);
}

std::optional<int64_t> ExactDecimal(Decimal128Bits bits) {
  const DecimalParts parts = DecodeDecimal(bits);
  if (parts.kind != Kind::kFinite) return std::nullopt;
  bool exact = false;
  const Uint128 magnitude = WholeMagnitude(parts, &exact);
  const uint64_t bound = (uint64_t{1} << 63) - (parts.negative ? 0 : 1);
  if (!exact || magnitude > bound) return std::nullopt;
  return ClampedToInt64(magnitude, parts.negative);
}

// What both operands are computed as: the widest of the two, with doubles above integers.
Type CommonType(Type a, Type b) {
  for (const Type type : {Type::kDecimal128, Type::kDouble, Type::kInt64}) {
    if (a == type || b == type) return type;
  }
  return Type::kInt32;
}

// An exact integer result in the narrowest type that holds it and is not below `type`.
Number FromInteger(Type type, int64_t value) {
  const bool fits =
      value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  return type == Type::kInt32 && fits ? Number::Int32(static_cast<int32_t>(value))
                                      : Number::Int64(value);
}

}  // namespace

Number Number::From(Value value) {
  switch (value.type()) {
    case Type::kInt32:
      return Int32(value.AsInt32());
    case Type::kInt64:
      return Int64(value.AsInt64());
    case Type::kDouble:
      return Double(value.AsDouble());
    default:
      EVENKEEL_CHECK(value.Is(Type::kDecimal128));
      return Decimal(value.AsDecimal128());
  }
}

OwnedValue Number::ToValue() const {
  char bytes[16];
  size_t size = 8;
  switch (type) {
    case Type::kInt32: {
      const auto narrow = static_cast<int32_t>(integer);
      std::memcpy(bytes, &narrow, sizeof(narrow));
      size = 4;
      break;
    }
    case Type::kInt64:
      std::memcpy(bytes, &integer, sizeof(integer));
      break;
    case Type::kDouble:
      std::memcpy(bytes, &real, sizeof(real));
      break;
    default:
      std::memcpy(bytes, &decimal.low, 8);
      std::memcpy(bytes + 8, &decimal.high, 8);
      size = 16;
  }
  return OwnedValue(type, std::string(bytes, size));
}

Decimal128Bits Number::ToDecimal() const {
  if (type == Type::kDecimal128) return decimal;
  return type == Type::kDouble ? DecimalFromDouble(real) : DecimalFromInt64(integer);
}

Number Add(Number a, Number b) {
  const Type type = CommonType(a.type, b.type);
  if (type == Type::kDecimal128) return Number::Decimal(DecimalAdd(a.ToDecimal(), b.ToDecimal()));
  if (type == Type::kDouble) return Number::Double(DoubleOf(a) + DoubleOf(b));
  int64_t sum = 0;
  if (__builtin_add_overflow(a.integer, b.integer, &sum)) {
    return Number::Double(DoubleOf(a) + DoubleOf(b));
  }
  return FromInteger(type, sum);
}

Number Subtract(Number a, Number b) {
  const Type type = CommonType(a.type, b.type);
  if (type == Type::kDecimal128) {
    return Number::Decimal(DecimalSubtract(a.ToDecimal(), b.ToDecimal()));
  }
  if (type == Type::kDouble) return Number::Double(DoubleOf(a) - DoubleOf(b));
  int64_t difference = 0;
  if (__builtin_sub_overflow(a.integer, b.integer, &difference)) {
    return Number::Double(DoubleOf(a) - DoubleOf(b));
  }
  return FromInteger(type, difference);
}

Number Multiply(Number a, Number b) {
  const Type type = CommonType(a.type, b.type);
  if (type == Type::kDecimal128) {
    return Number::Decimal(DecimalMultiply(a.ToDecimal(), b.ToDecimal()));
  }
  if (type == Type::kDouble) return Number::Double(DoubleOf(a) * DoubleOf(b));
  int64_t product = 0;
  if (__builtin_mul_overflow(a.integer, b.integer, &product)) {
    return Number::Double(DoubleOf(a) * DoubleOf(b));
  }
  return FromInteger(type, product);
}

int CompareNumbers(Value a, Value b) {
  if (b.Is(Type::kDecimal128)) return CompareWithDecimal(a, b);
  if (a.Is(Type::kDecimal128)) return -CompareWithDecimal(b, a);
  if (a.Is(Type::kDouble)) {
    if (b.Is(Type::kDouble)) return CompareDoubles(a.AsDouble(), b.AsDouble());
    return -CompareInt64WithDouble(IntegerOf(b), a.AsDouble());
  }
  if (b.Is(Type::kDouble)) return CompareInt64WithDouble(IntegerOf(a), b.AsDouble());
  return Sign(IntegerOf(a), IntegerOf(b));
}

double ToDouble(Value number) {
  if (number.Is(Type::kDouble)) return number.AsDouble();
  if (number.Is(Type::kDecimal128)) return DecimalToDouble(number.AsDecimal128());
  return static_cast<double>(IntegerOf(number));
}

int64_t ToInt64Truncated(Value number) {
  if (number.Is(Type::kDouble)) return TruncateDouble(number.AsDouble());
  if (number.Is(Type::kDecimal128)) return TruncateDecimal(number.AsDecimal128());
  return IntegerOf(number);
}

std::optional<int64_t> ToInt64Exact(Value number) {
  if (IsInteger(number.type())) return IntegerOf(number);
  if (number.Is(Type::kDecimal128)) return ExactDecimal(number.AsDecimal128());
  if (!number.Is(Type::kDouble)) return std::nullopt;
  const double real = number.AsDouble();
  if (!(real >= -kTwoTo63 && real < kTwoTo63) || std::trunc(real) != real) return std::nullopt;
  return static_cast<int64_t>(real);
}

bool Truthy(Value value) {
  switch (value.type()) {
    case Type::kBool:
      return value.AsBool();
    case Type::kInt32:
    case Type::kInt64:
      return IntegerOf(value) != 0;
    case Type::kDouble:
      return value.AsDouble() != 0;
    case Type::kDecimal128:
      return !DecimalIsZero(value.AsDecimal128());
    default:
      return !value.IsNullish();
  }
}

}  // namespace evenkeel::bson
