// Conversions of values between types: what $convert and its short forms share.
//
// Source: "$convert" and "$toInt" … in the manual.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bson/view.h"
#include "query/expr/arena.h"

namespace evenkeel::query::expr {

// How binary data is written as a string.
enum class BinaryFormat : uint8_t { kAuto, kBase64, kBase64Url, kHex, kUtf8, kUuid };

inline constexpr uint8_t kUuidSubtype = 4;

struct ConvertTarget {
  bson::Type type = bson::Type::kEod;
  uint8_t subtype = 0;                 // of binary data
  std::optional<BinaryFormat> format;  // between strings and binary data: must be given
  bool big_endian = false;             // between numbers and binary data
  int base = 10;                       // between strings and integers
};

// The value as the target's type. The result points into the input or the arena.
// Errors: ConversionFailure (241) when it cannot be that, 4341115 without a format where one is
// needed, 18537 for dates outside the years that a string can show.
absl::StatusOr<bson::Value> Convert(bson::Value input, const ConvertTarget& target,
                                    EvalArena& arena);

// The parts of Convert by target.
absl::StatusOr<bson::Value> ConvertToNumber(bson::Value input, const ConvertTarget& target,
                                            EvalArena& arena);
absl::StatusOr<bson::Value> ConvertToText(bson::Value input, const ConvertTarget& target,
                                          EvalArena& arena);
absl::StatusOr<bson::Value> ConvertToBinary(bson::Value input, const ConvertTarget& target,
                                            EvalArena& arena);

// The error for types between which there is no way.
absl::Status NoConversion(bson::Value input, bson::Type to);
// The error for a string or number that is no such value.
absl::Status ConversionFailed(std::string_view what, std::string_view why);

// All bytes of binary data, with the inner length of subtype 2.
std::string_view RawBinary(bson::Value value);

// Binary data as text. Errors: ConversionFailure (241) for what is no UUID, no UTF-8.
absl::StatusOr<std::string> BinaryText(bson::Value binary, BinaryFormat format);
// The bytes that a text stands for. Errors: ConversionFailure (241).
absl::StatusOr<std::string> BinaryFromText(std::string_view text, BinaryFormat format);

}  // namespace evenkeel::query::expr
