// Implements Convert: strings, dates and the types that need few words.
#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <cmath>

#include "base/bson/decimal.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/bson/text.h"
#include "base/status.h"
#include "query/expr/convert.h"
#include "query/expr/date_args.h"
#include "query/expr/date_format.h"
#include "query/expr/date_text.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

std::string RealText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{}", value);
}

// A whole number in base 2, 8, 10 or 16.
std::string IntegerText(int64_t value, int base) {
  const uint64_t magnitude = value < 0 ? ~static_cast<uint64_t>(value) + 1 : value;
  const std::string_view sign = value < 0 ? "-" : "";
  switch (base) {
    case 2:
      return fmt::format("{}{:b}", sign, magnitude);
    case 8:
      return fmt::format("{}{:o}", sign, magnitude);
    case 16:
      return fmt::format("{}{:X}", sign, magnitude);
    default:
      return fmt::format("{}", value);
  }
}

absl::StatusOr<std::string> DateText(int64_t moment) {
  static const DateFormat format =
      *DateFormat::Compile("%Y-%m-%dT%H:%M:%S.%LZ", DateFormat::Use::kPrint);
  return format.Print(TimeZone().ToLocal(moment));
}

absl::StatusOr<bson::Value> ToDate(bson::Value input, EvalArena& arena) {
  switch (input.type()) {
    case Type::kDate:
    case Type::kTimestamp:
    case Type::kObjectId:
      return arena.Date(*MomentOf(input));
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128: {
      const ConvertTarget milliseconds{.type = Type::kInt64};
      EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value,
                                ConvertToNumber(input, milliseconds, arena));
      return arena.Date(value.AsInt64());
    }
    case Type::kString: {
      EVENKEEL_ASSIGN_OR_RETURN(const DateFields fields, ReadDateText(input.AsString()));
      EVENKEEL_ASSIGN_OR_RETURN(const int64_t moment,
                                MomentOfFields(fields, TimeZone(), input.AsString()));
      return arena.Date(moment);
    }
    default:
      return NoConversion(input, Type::kDate);
  }
}

absl::StatusOr<bson::Value> ToObjectId(bson::Value input, EvalArena& arena) {
  if (input.Is(Type::kObjectId)) return input;
  if (!input.Is(Type::kString)) return NoConversion(input, Type::kObjectId);
  constexpr size_t kHexDigits = 24;
  const std::string_view text = input.AsString();
  const bool is_hex = text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  if (text.size() != kHexDigits || !is_hex) {
    return ConversionFailed(text, "an ObjectId has 24 hexadecimal digits");
  }
  const std::string bytes = absl::HexStringToBytes(absl::string_view(text.data(), text.size()));
  return arena.Copy(bson::Value(Type::kObjectId, bytes.data()));
}

bson::Value ToBool(bson::Value input) {
  if (input.Is(Type::kBool)) return input;
  if (!input.IsNumber()) return TrueValue();
  return BoolValue(bson::Truthy(input) ||
                   (input.Is(Type::kDouble) && std::isnan(input.AsDouble())));
}

// Arrays and objects from JSON.
absl::StatusOr<bson::Value> FromJsonText(bson::Value input, Type type, EvalArena& arena) {
  if (input.Is(type)) return input;
  if (!input.Is(Type::kString)) return NoConversion(input, type);
  const absl::StatusOr<bson::Document> wrapped =
      bson::FromJson(fmt::format("{{\"v\": {}}}", input.AsString()));
  if (!wrapped.ok() || !(*wrapped)["v"].Is(type) || wrapped->view().CountFields() != 1) {
    return ConversionFailed(input.AsString(), "it is no such JSON");
  }
  return arena.Copy((*wrapped)["v"]);
}

}  // namespace

absl::Status NoConversion(bson::Value input, Type to) {
  return Error(ErrorCode::kConversionFailure,
               "Unsupported conversion from {} to {} in $convert with no onError value",
               TypeAlias(input.type()), TypeAlias(to));
}

absl::Status ConversionFailed(std::string_view what, std::string_view why) {
  constexpr size_t kShownMax = 100;
  return Error(ErrorCode::kConversionFailure,
               "Failed to convert '{}' in $convert with no onError value: {}",
               what.substr(0, kShownMax), why);
}

absl::StatusOr<bson::Value> ConvertToText(bson::Value input, const ConvertTarget& target,
                                          EvalArena& arena) {
  switch (input.type()) {
    case Type::kString:
      return input;
    case Type::kBool:
      return arena.String(input.AsBool() ? "true" : "false");
    case Type::kInt32:
      return arena.String(IntegerText(input.AsInt32(), target.base));
    case Type::kInt64:
      return arena.String(IntegerText(input.AsInt64(), target.base));
    case Type::kDouble:
      return arena.String(RealText(input.AsDouble()));
    case Type::kDecimal128:
      return arena.String(bson::DecimalToString(input.AsDecimal128()));
    case Type::kObjectId:
      return arena.String(bson::HexText(input.AsObjectId()));
    case Type::kDate: {
      EVENKEEL_ASSIGN_OR_RETURN(const std::string text, DateText(input.AsDateMillis()));
      return arena.String(text);
    }
    case Type::kBinary: {
      if (!target.format) {
        return Error(Location(4341115), "$convert requires a 'format' from binData to string");
      }
      EVENKEEL_ASSIGN_OR_RETURN(const std::string text, BinaryText(input, *target.format));
      return arena.String(text);
    }
    default:
      return NoConversion(input, Type::kString);
  }
}

absl::StatusOr<bson::Value> Convert(bson::Value input, const ConvertTarget& target,
                                    EvalArena& arena) {
  switch (target.type) {
    case Type::kBool:
      return ToBool(input);
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kDecimal128:
      return ConvertToNumber(input, target, arena);
    case Type::kString:
      return ConvertToText(input, target, arena);
    case Type::kBinary:
      return ConvertToBinary(input, target, arena);
    case Type::kDate:
      return ToDate(input, arena);
    case Type::kObjectId:
      return ToObjectId(input, arena);
    case Type::kArray:
    case Type::kObject:
      return FromJsonText(input, target.type, arena);
    default:
      return NoConversion(input, target.type);
  }
}

}  // namespace evenkeel::query::expr
