// Implements numbers as order-preserving bytes: from bytes and type bits back to the BSON value.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "base/bson/decimal.h"
#include "base/status.h"
#include "storage/keys/key_format.h"
#include "storage/keys/number_key.h"

namespace evenkeel::storage {
namespace {

using bson::DecimalParts;
using bson::Uint128;

constexpr int kMantissaBits = 53;
constexpr int kDecimalExponentBias = 0x8000;

absl::Status Damaged(std::string_view what) {
  return Error(ErrorCode::kInvalidBSON, "damaged key: {}", what);
}

// A finite magnitude as it was read: mantissa * 2^exponent exactly, or a decimal that needed more.
struct Magnitude {
  uint64_t mantissa = 0;
  int exponent = 0;
  bool more = false;
  Uint128 coefficient = 0;
  int decimal_exponent = 0;
};

// Reads what PushMore has written.
bool ReadMore(KeyReader* key, Magnitude* out) {
  const std::optional<uint64_t> order = key->Number(2);
  if (!order.has_value()) return false;
  int digits = 0;
  for (;;) {
    const std::optional<uint8_t> byte = key->Byte();
    if (!byte.has_value()) return false;
    if (*byte == key_format::kEnd) break;
    if (*byte > 100 || digits + 2 > bson::kDecimalDigitsMax) return false;
    out->coefficient = out->coefficient * 100 + (*byte - 1u);
    digits += 2;
  }
  if (out->coefficient == 0) return false;
  out->more = true;
  out->decimal_exponent = static_cast<int>(*order) - kDecimalExponentBias - digits;
  return true;
}

bool ReadWhole(KeyReader* key, size_t count, Magnitude* out) {
  const std::optional<uint64_t> shifted = key->Number(count);
  if (!shifted.has_value()) return false;
  const uint64_t whole = *shifted >> 1;
  if (whole == 0) return false;
  out->mantissa = whole;
  if ((*shifted & 1) == 0) return true;
  const int whole_bits = static_cast<int>(std::bit_width(whole));
  const int bits = whole_bits < kMantissaBits ? kMantissaBits - whole_bits : 0;
  const std::optional<uint64_t> fraction = key->Number(static_cast<size_t>(bits + 8) / 8);
  if (!fraction.has_value() || *fraction >> (bits + 1) != 0) return false;
  out->mantissa = whole << bits | *fraction >> 1;
  out->exponent = -bits;
  return (*fraction & 1) == 0 || ReadMore(key, out);
}

bool ReadDoubleBits(KeyReader* key, Magnitude* out) {
  const std::optional<uint64_t> shifted = key->Number(8);
  if (!shifted.has_value()) return false;
  const auto value = std::bit_cast<double>(*shifted >> 1);
  if (!std::isfinite(value)) return false;
  const double fraction = std::frexp(value, &out->exponent);
  out->mantissa = static_cast<uint64_t>(std::ldexp(fraction, kMantissaBits));
  out->exponent -= kMantissaBits;
  return (*shifted & 1) == 0 || ReadMore(key, out);
}

template <typename T>
absl::Status Append(const T& value, bson::Type as, std::string* out, bson::Type* type) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
  *type = as;
  return absl::OkStatus();
}

absl::Status AppendDecimal(const DecimalParts& parts, std::string* out, bson::Type* type) {
  return Append(bson::EncodeDecimal(parts), bson::Type::kDecimal128, out, type);
}

// mantissa * 2^exponent as coefficient * 10^exponent with the fewest digits; false when 34 are not
// enough.
bool ToDecimal(uint64_t mantissa, int exponent, Uint128* coefficient, int* decimal_exponent) {
  const Uint128 bound = bson::PowerOfTen(bson::kDecimalDigitsMax);
  Uint128 digits = mantissa;
  int power = 0;
  for (; exponent < 0 && digits % 2 == 0; ++exponent) digits /= 2;
  for (; exponent < 0; ++exponent, --power) {  // a half is five tenths
    digits *= 5;
    if (digits >= bound) return false;
  }
  for (; exponent > 0; --exponent) {
    if (digits % 5 == 0) {  // two fives are ten
      digits /= 5;
      ++power;
    } else {
      digits *= 2;
    }
    if (digits >= bound) return false;
  }
  for (; digits % 10 == 0; ++power) digits /= 10;
  *coefficient = digits;
  *decimal_exponent = power;
  return true;
}

absl::Status DecodeDecimal(const Magnitude& magnitude, bool negative, int trailing_zeros,
                           std::string* out, bson::Type* type) {
  DecimalParts parts{.negative = negative,
                     .coefficient = magnitude.coefficient,
                     .exponent = magnitude.decimal_exponent};
  if (magnitude.more) {
    for (; parts.coefficient % 10 == 0; ++parts.exponent) parts.coefficient /= 10;
  } else if (!ToDecimal(magnitude.mantissa, magnitude.exponent, &parts.coefficient,
                        &parts.exponent)) {
    return Damaged("no decimal has this value");
  }
  const Uint128 bound = bson::PowerOfTen(bson::kDecimalDigitsMax);
  for (; trailing_zeros > 0; --trailing_zeros, --parts.exponent) {
    parts.coefficient *= 10;
    if (parts.coefficient >= bound) return Damaged("a decimal of more than 34 digits");
  }
  if (parts.exponent < bson::kDecimalExponentMin || parts.exponent > bson::kDecimalExponentMax) {
    return Damaged("a decimal's exponent is out of bounds");
  }
  return AppendDecimal(parts, out, type);
}

absl::Status DecodeInteger(const Magnitude& magnitude, bool negative, uint8_t kind,
                           std::string* out, bson::Type* type) {
  uint64_t whole = magnitude.mantissa;
  if (magnitude.exponent != 0) {  // only 2^63 is written as a double
    if (std::ldexp(static_cast<double>(whole), magnitude.exponent) != 0x1p63) {
      return Damaged("no integer has this value");
    }
    whole = uint64_t{1} << 63;
  }
  const uint64_t bound =
      (uint64_t{1} << (kind == key_format::kTypeInt32 ? 31 : 63)) - (negative ? 0 : 1);
  if (magnitude.more || whole > bound) return Damaged("no integer has this value");
  const auto value = static_cast<int64_t>(negative ? 0 - whole : whole);
  if (kind == key_format::kTypeInt64) return Append(value, bson::Type::kInt64, out, type);
  return Append(static_cast<int32_t>(value), bson::Type::kInt32, out, type);
}

absl::Status DecodeFinite(const Magnitude& magnitude, bool negative, uint8_t kind, std::string* out,
                          bson::Type* type) {
  if (kind <= key_format::kTypeInt64) return DecodeInteger(magnitude, negative, kind, out, type);
  if (kind == key_format::kTypeDouble) {
    const bool fits =
        static_cast<int>(std::bit_width(magnitude.mantissa)) <= kMantissaBits ||
        static_cast<uint64_t>(static_cast<double>(magnitude.mantissa)) == magnitude.mantissa;
    if (magnitude.more || !fits) return Damaged("no double has this value");
    const double value = std::ldexp(static_cast<double>(magnitude.mantissa), magnitude.exponent);
    return Append(negative ? -value : value, bson::Type::kDouble, out, type);
  }
  if (kind < key_format::kTypeDecimal || kind >= key_format::kTypeDecimalZero) {
    return Damaged("unknown kind of number");
  }
  return DecodeDecimal(magnitude, negative, kind - key_format::kTypeDecimal, out, type);
}

absl::Status DecodeZero(uint8_t kind, TypeBitsReader* type_bits, std::string* out,
                        bson::Type* type) {
  switch (kind) {
    case key_format::kTypeInt32:
      return Append(int32_t{0}, bson::Type::kInt32, out, type);
    case key_format::kTypeInt64:
      return Append(int64_t{0}, bson::Type::kInt64, out, type);
    case key_format::kTypeDouble:
      return Append(0.0, bson::Type::kDouble, out, type);
    case key_format::kTypeNegativeZero:
      return Append(-0.0, bson::Type::kDouble, out, type);
    case key_format::kTypeDecimalZero: {
      const int high = type_bits->Byte();
      const int packed = high << 8 | type_bits->Byte();
      const DecimalParts parts{.negative = (packed & 1) != 0,
                               .exponent = (packed >> 1) + bson::kDecimalExponentMin};
      if (parts.exponent > bson::kDecimalExponentMax) return Damaged("exponent of zero");
      return AppendDecimal(parts, out, type);
    }
    default:
      return Damaged("unknown kind of zero");
  }
}

absl::Status DecodeSpecial(DecimalParts::Kind what, bool negative, uint8_t kind, std::string* out,
                           bson::Type* type) {
  if (kind == key_format::kTypeDecimal) {
    return AppendDecimal({.kind = what, .negative = negative}, out, type);
  }
  if (kind != key_format::kTypeDouble) return Damaged("unknown kind of number");
  double value = std::numeric_limits<double>::quiet_NaN();
  if (what == DecimalParts::Kind::kInfinity) value = std::numeric_limits<double>::infinity();
  return Append(negative ? -value : value, bson::Type::kDouble, out, type);
}

}  // namespace

absl::Status DecodeNumber(KeyReader* key, TypeBitsReader* type_bits, std::string* out,
                          bson::Type* type) {
  uint8_t first = key->Byte().value_or(0);
  uint8_t kind = type_bits->Byte();
  const bool negative = first < key_format::kZero && first != key_format::kNaN;
  if (negative) {
    first = static_cast<uint8_t>(~first);
    key->Invert();
  }
  Magnitude magnitude;
  bool whole = true;
  if (first > key_format::kWholeBytes && first < key_format::kHuge) {
    whole = ReadWhole(key, first - key_format::kWholeBytes, &magnitude);
  } else if (first == key_format::kBelowOne || first == key_format::kHuge) {
    whole = ReadDoubleBits(key, &magnitude);
  }
  if (negative) key->Invert();
  if (!whole) return Damaged("number");
  if (kind == key_format::kTypeRawDouble || kind == key_format::kTypeRawDecimal) {
    const bool is_double = kind == key_format::kTypeRawDouble;
    *type = is_double ? bson::Type::kDouble : bson::Type::kDecimal128;
    type_bits->Copy(is_double ? sizeof(double) : sizeof(bson::Decimal128Bits), out);
    return absl::OkStatus();
  }
  switch (first) {
    case key_format::kNaN:
      return DecodeSpecial(DecimalParts::Kind::kNaN, false, kind, out, type);
    case key_format::kInfinity:
      return DecodeSpecial(DecimalParts::Kind::kInfinity, negative, kind, out, type);
    case key_format::kZero:
      return DecodeZero(kind, type_bits, out, type);
    default:
      if (magnitude.mantissa == 0 && !magnitude.more) return Damaged("number");
      return DecodeFinite(magnitude, negative, kind, out, type);
  }
}

}  // namespace evenkeel::storage
