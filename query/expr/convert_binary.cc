// Binary data: to and from strings and numbers.
#include <absl/strings/escaping.h>

#include <algorithm>
#include <string>

#include "base/bson/text.h"
#include "base/status.h"
#include "query/expr/convert.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

constexpr size_t kUuidBytes = 16;
constexpr std::string_view kUuidForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Base64 with the two characters that end its alphabet; padding may be left out or not.
bool IsBase64(std::string_view text, std::string_view last_two, bool needs_padding) {
  const size_t end = text.find('=');
  const std::string_view padding = text.substr(std::min(end, text.size()));
  const std::string_view body = text.substr(0, text.size() - padding.size());
  if (padding.size() > 2 || padding.find_first_not_of('=') != std::string_view::npos) return false;
  if ((needs_padding || !padding.empty()) && text.size() % 4 != 0) return false;
  return body.size() % 4 != 1 && std::all_of(body.begin(), body.end(), [last_two](char c) {
           return IsAlphanumeric(c) || last_two.find(c) != std::string_view::npos;
         });
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = bson::Utf8SequenceBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string UuidText(std::string_view bytes) {
  const std::string hex = bson::HexText(bytes);
  std::string text;
  size_t next = 0;
  for (const char c : kUuidForm) text += c == '-' ? '-' : hex[next++];
  return text;
}

absl::StatusOr<std::string> UuidBytes(std::string_view text) {
  std::string hex;
  for (size_t i = 0; i < text.size() && text.size() == kUuidForm.size(); ++i) {
    if (kUuidForm[i] == '-' ? text[i] == '-' : IsHex(text[i])) {
      if (kUuidForm[i] != '-') hex += text[i];
    }
  }
  if (hex.size() != 2 * kUuidBytes) return ConversionFailed(text, "it is no UUID");
  return absl::HexStringToBytes(hex);
}

bson::Value MakeBinary(std::string_view bytes, uint8_t subtype, EvalArena& arena) {
  char* data = arena.Allocate(bytes.size() + 5);
  const auto length = static_cast<int32_t>(bytes.size());
  std::memcpy(data, &length, 4);
  data[4] = static_cast<char>(subtype);
  if (!bytes.empty()) std::memcpy(data + 5, bytes.data(), bytes.size());
  return bson::Value(Type::kBinary, data);
}

}  // namespace

std::string_view RawBinary(bson::Value value) { return value.Bytes().substr(5); }

absl::StatusOr<std::string> BinaryText(bson::Value binary, BinaryFormat format) {
  const std::string_view bytes = RawBinary(binary);
  const bool is_uuid = binary.AsBinary().subtype == kUuidSubtype && bytes.size() == kUuidBytes;
  if (format == BinaryFormat::kAuto) format = is_uuid ? BinaryFormat::kUuid : BinaryFormat::kBase64;
  switch (format) {
    case BinaryFormat::kBase64Url:
      return absl::WebSafeBase64Escape(ToAbsl(bytes));
    case BinaryFormat::kHex: {
      std::string hex = bson::HexText(bytes);
      std::transform(hex.begin(), hex.end(), hex.begin(),
                     [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
      return hex;
    }
    case BinaryFormat::kUtf8:
      if (!IsUtf8(bytes)) return ConversionFailed("binary data", "it is no UTF-8");
      return std::string(bytes);
    case BinaryFormat::kUuid:
      if (!is_uuid) return ConversionFailed("binary data", "it is no UUID");
      return UuidText(bytes);
    default:
      return bson::Base64Text(bytes);
  }
}

absl::StatusOr<std::string> BinaryFromText(std::string_view text, BinaryFormat format) {
  std::string bytes;
  switch (format) {
    case BinaryFormat::kBase64:
      if (!IsBase64(text, "+/", true) || !absl::Base64Unescape(ToAbsl(text), &bytes)) {
        return ConversionFailed(text, "it is no base64");
      }
      return bytes;
    case BinaryFormat::kBase64Url:
      if (!IsBase64(text, "-_", false) || !absl::WebSafeBase64Unescape(ToAbsl(text), &bytes)) {
        return ConversionFailed(text, "it is no base64url");
      }
      return bytes;
    case BinaryFormat::kHex:
      if (text.size() % 2 != 0 || !std::all_of(text.begin(), text.end(), IsHex)) {
        return ConversionFailed(text, "it is no hexadecimal number");
      }
      return absl::HexStringToBytes(ToAbsl(text));
    case BinaryFormat::kUtf8:
      return std::string(text);
    case BinaryFormat::kUuid:
      return UuidBytes(text);
    default:
      return ConversionFailed(text, "the format 'auto' is for reading binary data");
  }
}

absl::StatusOr<bson::Value> ConvertToBinary(bson::Value input, const ConvertTarget& target,
                                            EvalArena& arena) {
  switch (input.type()) {
    case Type::kBinary:
      if (input.AsBinary().subtype != target.subtype) {
        return ConversionFailed("binary data", "its subtype is not the wanted one");
      }
      return input;
    case Type::kString: {
      if (!target.format) {
        return Error(Location(4341115), "$convert requires a 'format' from string to binData");
      }
      const bool is_uuid = *target.format == BinaryFormat::kUuid;
      if (is_uuid != (target.subtype == kUuidSubtype)) {
        return ConversionFailed(input.AsString(), "the format 'uuid' goes with subtype 4");
      }
      EVENKEEL_ASSIGN_OR_RETURN(const std::string bytes,
                                BinaryFromText(input.AsString(), *target.format));
      return MakeBinary(bytes, target.subtype, arena);
    }
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble: {
      std::string bytes(input.Bytes());
      if (target.big_endian) std::reverse(bytes.begin(), bytes.end());
      return MakeBinary(bytes, target.subtype, arena);
    }
    default:
      return NoConversion(input, Type::kBinary);
  }
}

}  // namespace evenkeel::query::expr
