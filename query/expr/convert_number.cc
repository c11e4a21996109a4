// Conversions to int, long, double and decimal.
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/bson/decimal.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/expr/convert.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

// A whole number in the target's base; a sign may precede it.
absl::StatusOr<int64_t> IntegerFromText(std::string_view text, int base) {
  std::string_view digits = text;
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return ConversionFailed(text, "it is no number");
  }
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error == std::errc::result_out_of_range) return ConversionFailed(text, "it is out of range");
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return ConversionFailed(text, "it is no number");
  }
  return value;
}

absl::StatusOr<double> DoubleFromText(std::string_view text) {
  const std::string copy(text);
  constexpr std::string_view kStarts = "0123456789+-.iInN";
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (text.empty() || kStarts.find(text[0]) == std::string_view::npos ||
      end != copy.c_str() + copy.size() || text.find('(') != std::string_view::npos) {
    return ConversionFailed(text, "it is no number");
  }
  const bool names_infinity = text.find_first_of("nN") != std::string_view::npos;
  const std::string_view mantissa = text.substr(0, text.find_first_of("eEpP"));
  const bool is_hex = text.find_first_of("xX") != std::string_view::npos;
  const bool has_digit = mantissa.find_first_of(is_hex ? "123456789abcdefABCDEF" : "123456789") !=
                         std::string_view::npos;
  if ((std::isinf(value) && !names_infinity) || (value == 0 && has_digit)) {
    return ConversionFailed(text, "it is out of range");
  }
  return value;
}

// The bytes of binary data as a little-endian number of the same size.
template <typename T>
T LoadNumber(std::string_view bytes, bool big_endian) {
  char ordered[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) ordered[big_endian ? sizeof(T) - 1 - i : i] = bytes[i];
  return bson::LoadLittle<T>(ordered);
}

absl::StatusOr<int64_t> IntegerFromBinary(std::string_view bytes, bool big_endian, size_t most) {
  if (bytes.size() <= most) {
    switch (bytes.size()) {
      case 1:
        return LoadNumber<int8_t>(bytes, big_endian);
      case 2:
        return LoadNumber<int16_t>(bytes, big_endian);
      case 4:
        return LoadNumber<int32_t>(bytes, big_endian);
      case 8:
        return LoadNumber<int64_t>(bytes, big_endian);
      default:
        break;
    }
  }
  return ConversionFailed("binary data", "its size is not that of a number");
}

// Doubles and decimals are cut towards zero.
absl::StatusOr<int64_t> IntegerFromReal(bson::Value input) {
  if (input.Is(Type::kDecimal128)) {
    const bson::Decimal128Bits whole =
        bson::DecimalApply(bson::DecimalFunction::kTruncate, input.AsDecimal128());
    char bytes[sizeof(whole)];
    std::memcpy(bytes, &whole, sizeof(whole));
    const auto exact = bson::ToInt64Exact(bson::Value(Type::kDecimal128, bytes));
    if (!exact) return ConversionFailed(bson::DecimalToString(whole), "it is out of range");
    return *exact;
  }
  const double real = input.AsDouble();
  if (!(real >= -0x1p63 && real < 0x1p63)) {
    return ConversionFailed(fmt::format("{}", real), "it is out of range");
  }
  return static_cast<int64_t>(real);
}

absl::StatusOr<int64_t> ToInteger(bson::Value input, const ConvertTarget& target) {
  const bool is_long = target.type == Type::kInt64;
  switch (input.type()) {
    case Type::kBool:
      return input.AsBool() ? 1 : 0;
    case Type::kInt32:
      return input.AsInt32();
    case Type::kInt64:
      return input.AsInt64();
    case Type::kDouble:
    case Type::kDecimal128:
      return IntegerFromReal(input);
    case Type::kString:
      return IntegerFromText(input.AsString(), target.base);
    case Type::kBinary:
      return IntegerFromBinary(RawBinary(input), target.big_endian, is_long ? 8 : 4);
    case Type::kDate:
      if (is_long) return input.AsDateMillis();
      break;
    default:
      break;
  }
  return NoConversion(input, target.type);
}

absl::StatusOr<double> ToReal(bson::Value input, const ConvertTarget& target) {
  switch (input.type()) {
    case Type::kBool:
      return input.AsBool() ? 1 : 0;
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
      return bson::ToDouble(input);
    case Type::kDecimal128: {
      const bson::Decimal128Bits decimal = input.AsDecimal128();
      const double real = bson::ToDouble(input);
      const bool too_large = std::isinf(real) && !bson::DecimalIsInfinite(decimal);
      if (too_large || (real == 0 && !bson::DecimalIsZero(decimal))) {
        return ConversionFailed(bson::DecimalToString(decimal), "it is out of range");
      }
      return real;
    }
    case Type::kString:
      return DoubleFromText(input.AsString());
    case Type::kDate:
      return static_cast<double>(input.AsDateMillis());
    case Type::kBinary: {
      const std::string_view bytes = RawBinary(input);
      if (bytes.size() == 8) return LoadNumber<double>(bytes, target.big_endian);
      if (bytes.size() == 4) return LoadNumber<float>(bytes, target.big_endian);
      return ConversionFailed("binary data", "its size is not that of a double");
    }
    default:
      return NoConversion(input, target.type);
  }
}

// The numeral with what is beyond a decimal's digits cut, as MongoDB reads it, not rounded.
std::string CutDigits(std::string_view numeral) {
  std::string cut(numeral);
  int digits = 0;
  for (char& c : cut) {
    if (c == 'e' || c == 'E') break;
    if (c < '0' || c > '9' || (c == '0' && digits == 0)) continue;
    if (++digits > bson::kDecimalDigitsMax) c = '0';
  }
  return cut;
}

absl::StatusOr<bson::Decimal128Bits> ToDecimal(bson::Value input) {
  switch (input.type()) {
    case Type::kBool:
      return bson::DecimalFromInt64(input.AsBool() ? 1 : 0);
    case Type::kInt32:
      return bson::DecimalFromInt64(input.AsInt32());
    case Type::kInt64:
      return bson::DecimalFromInt64(input.AsInt64());
    case Type::kDate:
      return bson::DecimalFromInt64(input.AsDateMillis());
    case Type::kDouble:
      return bson::DecimalFromDouble(input.AsDouble());
    case Type::kDecimal128:
      return input.AsDecimal128();
    case Type::kString: {
      const std::string_view text = input.AsString();
      const absl::StatusOr<bson::Decimal128Bits> decimal = bson::DecimalFromString(CutDigits(text));
      if (!decimal.ok()) return ConversionFailed(text, "it is no number");
      const bool names_infinity = text.find_first_of("iI") != std::string_view::npos;
      const std::string_view mantissa = text.substr(0, text.find_first_of("eE"));
      const bool has_digit = mantissa.find_first_of("123456789") != std::string_view::npos;
      if ((bson::DecimalIsInfinite(*decimal) && !names_infinity) ||
          (bson::DecimalIsZero(*decimal) && has_digit)) {
        return ConversionFailed(text, "it is out of range");
      }
      return *decimal;
    }
    default:
      return NoConversion(input, Type::kDecimal128);
  }
}

}  // namespace

absl::StatusOr<bson::Value> ConvertToNumber(bson::Value input, const ConvertTarget& target,
                                            EvalArena& arena) {
  if (target.type == Type::kDecimal128) {
    EVENKEEL_ASSIGN_OR_RETURN(const bson::Decimal128Bits decimal, ToDecimal(input));
    return arena.Decimal(decimal);
  }
  if (target.type == Type::kDouble) {
    EVENKEEL_ASSIGN_OR_RETURN(const double real, ToReal(input, target));
    return arena.Double(real);
  }
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t integer, ToInteger(input, target));
  if (target.type == Type::kInt64) return arena.Int64(integer);
  if (integer < INT32_MIN || integer > INT32_MAX) {
    return ConversionFailed(fmt::format("{}", integer), "it is out of range for an int");
  }
  return arena.Int32(static_cast<int32_t>(integer));
}

}  // namespace evenkeel::query::expr
