// Implements numbers as order-preserving bytes: the encoding. Decoding: number_decoding.cc.
#include "storage/keys/number_key.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/bson/decimal.h"
#include "base/bson/number.h"
#include "base/check.h"
#include "storage/keys/key_format.h"

namespace evenkeel::storage {
namespace {

using bson::DecimalParts;
using bson::Uint128;

constexpr int kMantissaBits = 53;
constexpr double kTwoTo63 = 0x1p63;
constexpr int kDecimalExponentBias = 0x8000;

// Collects the bytes of one number.
class Bytes {
 public:
  void Push(uint8_t byte) { bytes_[size_++] = byte; }
  // The low `count` bytes of `number`, highest first; 1 to 8. Writes eight in any case: fixed
  // lengths are faster.
  void PushNumber(uint64_t number, size_t count) {
    const uint64_t swapped = __builtin_bswap64(number << (64 - 8 * count));
    std::memcpy(bytes_ + size_, &swapped, sizeof(swapped));
    size_ += count;
  }
  void AppendTo(bool inverted, std::string* out) {
    if (inverted) {
      for (size_t i = 0; i < size_; ++i) bytes_[i] = static_cast<uint8_t>(~bytes_[i]);
    }
    out->append(reinterpret_cast<const char*>(bytes_), size_);
  }

 private:
  uint8_t bytes_[48];  // first byte 1, whole 8, fraction 7, exponent 2, digits 17 and their end:
                       // 36, and what PushNumber writes too many
  size_t size_ = 0;
};

size_t BytesOf(int bits) { return static_cast<size_t>(bits + 7) / 8; }

// Requires 0 < whole < 2^63.
void PushWhole(uint64_t whole, bool has_fraction, Bytes* out) {
  const uint64_t shifted = whole << 1 | (has_fraction ? 1 : 0);
  const size_t count = BytesOf(static_cast<int>(std::bit_width(shifted)));
  out->Push(static_cast<uint8_t>(key_format::kWholeBytes + count));
  out->PushNumber(shifted, count);
}

// Bits that a double with this whole part has for its fraction.
int FractionBits(uint64_t whole) {
  const int bits = static_cast<int>(std::bit_width(whole));
  return bits < kMantissaBits ? kMantissaBits - bits : 0;
}

void PushFraction(uint64_t fraction, int fraction_bits, bool more, Bytes* out) {
  out->PushNumber(fraction << 1 | (more ? 1 : 0), BytesOf(fraction_bits + 1));
}

void PushDoubleBits(uint8_t first, double magnitude, bool more, Bytes* out) {
  out->Push(first);
  out->PushNumber(std::bit_cast<uint64_t>(magnitude) << 1 | (more ? 1 : 0), 8);
}

void AppendInteger(int64_t value, std::string* out) {
  if (value == 0) {
    out->push_back(static_cast<char>(key_format::kZero));
    return;
  }
  Bytes bytes;
  const uint64_t magnitude =
      value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (magnitude >> 63 != 0) {
    PushDoubleBits(key_format::kHuge, kTwoTo63, false, &bytes);
  } else {
    PushWhole(magnitude, false, &bytes);
  }
  bytes.AppendTo(value < 0, out);
}

void AppendDouble(double value, std::string* out) {
  if (std::isnan(value)) {
    out->push_back(static_cast<char>(key_format::kNaN));
    return;
  }
  if (value == 0) {
    out->push_back(static_cast<char>(key_format::kZero));
    return;
  }
  Bytes bytes;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) {
    bytes.Push(key_format::kInfinity);
  } else if (magnitude >= kTwoTo63) {
    PushDoubleBits(key_format::kHuge, magnitude, false, &bytes);
  } else if (magnitude < 1) {
    PushDoubleBits(key_format::kBelowOne, magnitude, false, &bytes);
  } else {
    const auto whole = static_cast<uint64_t>(magnitude);
    const double rest = magnitude - static_cast<double>(whole);
    PushWhole(whole, rest != 0, &bytes);
    if (rest != 0) {
      const int bits = FractionBits(whole);
      PushFraction(static_cast<uint64_t>(std::ldexp(rest, bits)), bits, false, &bytes);
    }
  }
  bytes.AppendTo(value < 0, out);
}

// A positive decimal without trailing zeros in its coefficient.
struct Magnitude {
  Uint128 coefficient = 0;
  int exponent = 0;
  int digit_count = 0;
  // The number is below 10^order and at least a tenth of it.
  int order() const { return digit_count + exponent; }
};

int DigitCount(Uint128 number) {
  int digits = 1;
  while (digits < bson::kDecimalDigitsMax && number >= bson::PowerOfTen(digits)) ++digits;
  return digits;
}

// Requires a finite value other than zero.
Magnitude NormalizedMagnitude(const DecimalParts& parts, int* trailing_zeros) {
  Magnitude out{.coefficient = parts.coefficient, .exponent = parts.exponent};
  *trailing_zeros = 0;
  while (out.coefficient % 10 == 0) {
    out.coefficient /= 10;
    ++out.exponent;
    ++*trailing_zeros;
  }
  out.digit_count = DigitCount(out.coefficient);
  return out;
}

// What a double does not hold of a decimal: its whole value in decimal form.
void PushMore(const Magnitude& value, Bytes* out) {
  out->PushNumber(static_cast<uint64_t>(value.order() + kDecimalExponentBias), 2);
  Uint128 digits = value.coefficient;
  if (value.digit_count % 2 != 0) digits *= 10;
  for (int left = (value.digit_count + 1) / 2; left > 0; --left) {
    const Uint128 unit = bson::PowerOfTen(2 * (left - 1));
    out->Push(static_cast<uint8_t>(digits / unit + 1));
    digits %= unit;
  }
  out->Push(key_format::kEnd);
}

// The double next to a positive decimal towards zero; `*more` tells that it is below it.
double TruncatedToDouble(bson::Decimal128Bits bits, bool* more) {
  const bson::Value decimal(bson::Type::kDecimal128, reinterpret_cast<const char*>(&bits));
  double nearest = bson::DecimalToDouble(bits);
  if (std::isinf(nearest)) nearest = std::numeric_limits<double>::max();
  const bson::Value as_double(bson::Type::kDouble, reinterpret_cast<const char*>(&nearest));
  int order = bson::CompareNumbers(as_double, decimal);
  if (order > 0) {
    nearest = std::nextafter(nearest, 0.0);
    order = -1;
  }
  *more = order != 0;
  return nearest;
}

// The first `bits` bits of part / unit. Requires part < unit. `*more` tells that there are others.
uint64_t BinaryFraction(Uint128 part, Uint128 unit, int bits, bool* more) {
  uint64_t fraction = 0;
  if (part >> 64 == 0) {
    const Uint128 shifted = part << bits;  // fewer than 128 bits: at most 64 + 52
    fraction = static_cast<uint64_t>(shifted / unit);
    part = shifted % unit;
  } else {
    for (int i = 0; i < bits; ++i) {
      part <<= 1;
      fraction <<= 1;
      if (part >= unit) {
        part -= unit;
        fraction |= 1;
      }
    }
  }
  *more = part != 0;
  return fraction;
}

void PushDecimal(bson::Decimal128Bits bits, const Magnitude& value, Bytes* out) {
  constexpr int kWholeDigitsMax = 19;  // 2^63 has 19
  bool more = false;
  if (value.order() > 0 && value.order() <= kWholeDigitsMax) {
    const Uint128 unit = bson::PowerOfTen(value.exponent < 0 ? -value.exponent : 0);
    const Uint128 scale = bson::PowerOfTen(value.exponent > 0 ? value.exponent : 0);
    const Uint128 whole = value.coefficient * scale / unit;
    if (whole >> 63 == 0) {
      const auto low = static_cast<uint64_t>(whole);
      PushWhole(low, value.exponent < 0, out);
      if (value.exponent >= 0) return;
      const int fraction_bits = FractionBits(low);
      const uint64_t fraction =
          BinaryFraction(value.coefficient % unit, unit, fraction_bits, &more);
      PushFraction(fraction, fraction_bits, more, out);
      if (more) PushMore(value, out);
      return;
    }
  }
  const double magnitude = TruncatedToDouble(bits, &more);
  PushDoubleBits(value.order() > 0 ? key_format::kHuge : key_format::kBelowOne, magnitude, more,
                 out);
  if (more) PushMore(value, out);
}

void AppendDecimal(bson::Decimal128Bits bits, std::string* out) {
  const DecimalParts parts = bson::DecodeDecimal(bits);
  if (parts.kind == DecimalParts::Kind::kNaN) {
    out->push_back(static_cast<char>(key_format::kNaN));
    return;
  }
  Bytes bytes;
  if (parts.kind == DecimalParts::Kind::kInfinity) {
    bytes.Push(key_format::kInfinity);
  } else if (parts.coefficient == 0) {
    out->push_back(static_cast<char>(key_format::kZero));
    return;
  } else {
    int trailing_zeros = 0;
    const Magnitude magnitude = NormalizedMagnitude(parts, &trailing_zeros);
    DecimalParts positive = parts;
    positive.negative = false;
    PushDecimal(bson::EncodeDecimal(positive), magnitude, &bytes);
  }
  bytes.AppendTo(parts.negative, out);
}

void AppendRaw(uint8_t type, bson::Value value, std::string* out) {
  out->push_back(static_cast<char>(type));
  out->append(value.Bytes());
}

void AppendDoubleTypeBits(bson::Value value, std::string* out) {
  const double number = value.AsDouble();
  if (number == 0 && std::signbit(number)) {
    out->push_back(static_cast<char>(key_format::kTypeNegativeZero));
  } else if (std::isnan(number) &&
             std::bit_cast<uint64_t>(number) !=
                 std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN())) {
    AppendRaw(key_format::kTypeRawDouble, value, out);
  } else {
    out->push_back(static_cast<char>(key_format::kTypeDouble));
  }
}

void AppendDecimalTypeBits(bson::Value value, std::string* out) {
  const bson::Decimal128Bits bits = value.AsDecimal128();
  const DecimalParts parts = bson::DecodeDecimal(bits);
  if (bson::EncodeDecimal(parts) != bits) {
    AppendRaw(key_format::kTypeRawDecimal, value, out);
    return;
  }
  if (parts.kind == DecimalParts::Kind::kFinite && parts.coefficient == 0) {
    const int packed = (parts.exponent - bson::kDecimalExponentMin) << 1 | (parts.negative ? 1 : 0);
    out->push_back(static_cast<char>(key_format::kTypeDecimalZero));
    out->push_back(static_cast<char>(packed >> 8));
    out->push_back(static_cast<char>(packed & 0xFF));
    return;
  }
  int trailing_zeros = 0;
  if (parts.kind == DecimalParts::Kind::kFinite) NormalizedMagnitude(parts, &trailing_zeros);
  out->push_back(static_cast<char>(key_format::kTypeDecimal + trailing_zeros));
}

}  // namespace

void AppendNumberKey(bson::Value value, std::string* out) {
  switch (value.type()) {
    case bson::Type::kInt32:
      return AppendInteger(value.AsInt32(), out);
    case bson::Type::kInt64:
      return AppendInteger(value.AsInt64(), out);
    case bson::Type::kDouble:
      return AppendDouble(value.AsDouble(), out);
    default:
      EVENKEEL_CHECK(value.Is(bson::Type::kDecimal128));
      return AppendDecimal(value.AsDecimal128(), out);
  }
}

void AppendNumberTypeBits(bson::Value value, std::string* out) {
  switch (value.type()) {
    case bson::Type::kInt32:
      out->push_back(static_cast<char>(key_format::kTypeInt32));
      return;
    case bson::Type::kInt64:
      out->push_back(static_cast<char>(key_format::kTypeInt64));
      return;
    case bson::Type::kDouble:
      return AppendDoubleTypeBits(value, out);
    default:
      EVENKEEL_CHECK(value.Is(bson::Type::kDecimal128));
      return AppendDecimalTypeBits(value, out);
  }
}

}  // namespace evenkeel::storage
