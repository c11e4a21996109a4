// Implements the wrappers of Extended JSON: a table of names, and one small function for each.
#include "base/bson/json_wrappers.h"

#include <absl/strings/escaping.h>
#include <absl/time/time.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "base/bson/builder.h"
#include "base/bson/number.h"

namespace evenkeel::bson {
namespace {

constexpr std::string_view kKey;  // of the one field that a converted value is appended as

bool IsText(Value value) { return value.Is(Type::kString); }

// Two hexadecimal digits per byte. False for anything else.
bool BytesFromHex(std::string_view hex, std::string* bytes) {
  if (hex.size() % 2 != 0) return false;
  for (size_t at = 0; at < hex.size(); at += 2) {
    unsigned byte = 0;
    const char* start = hex.data() + at;
    const auto result = std::from_chars(start, start + 2, byte, 16);
    if (result.ec != std::errc() || result.ptr != start + 2) return false;
    bytes->push_back(static_cast<char>(byte));
  }
  return true;
}

template <typename T>
bool NumberFromText(std::string_view text, T* number) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *number);
  return result.ec == std::errc() && result.ptr == end;
}

bool BytesFromBase64(Value text, std::string* bytes) {
  if (!IsText(text)) return false;
  const std::string_view encoded = text.AsString();
  return absl::Base64Unescape(absl::string_view(encoded.data(), encoded.size()), bytes);
}

bool UnwrapOid(View document, Builder* out) {
  const Value text = document.Front().value;
  std::string bytes;
  if (!IsText(text) || !BytesFromHex(text.AsString(), &bytes) || bytes.size() != 12) return false;
  out->AppendObjectId(kKey, bytes);
  return true;
}

template <typename T>
bool UnwrapInteger(View document, Builder* out) {
  const Value text = document.Front().value;
  T number = 0;
  if (!IsText(text) || !NumberFromText(text.AsString(), &number)) return false;
  out->Append(kKey, number);
  return true;
}

bool UnwrapDouble(View document, Builder* out) {
  const Value text = document.Front().value;
  if (!IsText(text)) return false;
  const std::string_view digits = text.AsString();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double number = 0;
  if (digits == "NaN") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else if (digits == "Infinity") {
    number = kInfinity;
  } else if (digits == "-Infinity") {
    number = -kInfinity;
  } else if (!NumberFromText(digits, &number) || !std::isfinite(number)) {
    return false;
  }
  out->Append(kKey, number);
  return true;
}

bool UnwrapDecimal(View document, Builder* out) {
  const Value text = document.Front().value;
  if (!IsText(text)) return false;
  const absl::StatusOr<Decimal128Bits> bits = DecimalFromString(text.AsString());
  if (!bits.ok()) return false;
  out->AppendDecimal128(kKey, *bits);
  return true;
}

bool UnwrapDate(View document, Builder* out) {
  const Value value = document.Front().value;
  if (value.Is(Type::kInt32) || value.Is(Type::kInt64)) {
    out->AppendDate(kKey, ToInt64Truncated(value));
    return true;
  }
  if (!IsText(value)) return false;
  const std::string text(value.AsString());
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return false;
  if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return false;
  out->AppendDate(kKey, absl::ToUnixMillis(time));
  return true;
}

bool UnwrapTimestamp(View document, Builder* out) {
  const Value parts = document.Front().value;
  if (!parts.Is(Type::kObject) || parts.AsDocument().CountFields() != 2) return false;
  const std::optional<int64_t> seconds = ToInt64Exact(parts.AsDocument()["t"]);
  const std::optional<int64_t> increment = ToInt64Exact(parts.AsDocument()["i"]);
  const auto fits = [](const std::optional<int64_t>& part) {
    return part.has_value() && *part >= 0 && *part <= int64_t{UINT32_MAX};
  };
  if (!fits(seconds) || !fits(increment)) return false;
  out->Append(kKey, Timestamp::FromParts(static_cast<uint32_t>(*seconds),
                                         static_cast<uint32_t>(*increment)));
  return true;
}

// {"$binary": {"base64": …, "subType": …}}, and the older {"$binary": …, "$type": …}.
bool UnwrapBinary(View document, Builder* out) {
  const Value content = document.Front().value;
  const bool older = IsText(content);
  if (!older && !content.Is(Type::kObject)) return false;
  const Value base64 = older ? content : content.AsDocument()["base64"];
  const Value subtype = older ? document["$type"] : content.AsDocument()["subType"];
  std::string bytes;
  std::string type;
  if (!BytesFromBase64(base64, &bytes) || !IsText(subtype)) return false;
  const std::string hex(subtype.AsString());
  if (!BytesFromHex(hex.size() == 1 ? "0" + hex : hex, &type) || type.size() != 1) return false;
  out->AppendBinary(kKey, static_cast<uint8_t>(type[0]), bytes);
  return true;
}

bool UnwrapUuid(View document, Builder* out) {
  constexpr uint8_t kSubtypeUuid = 4;
  const Value text = document.Front().value;
  if (!IsText(text) || text.AsString().size() != 36) return false;
  std::string hex(text.AsString());
  for (const size_t dash : {23, 18, 13, 8}) {
    if (hex[dash] != '-') return false;
    hex.erase(dash, 1);
  }
  std::string bytes;
  if (!BytesFromHex(hex, &bytes)) return false;
  out->AppendBinary(kKey, kSubtypeUuid, bytes);
  return true;
}

bool UnwrapSymbol(View document, Builder* out) {
  const Value text = document.Front().value;
  if (!IsText(text)) return false;
  out->AppendSymbol(kKey, text.AsString());
  return true;
}

// {"$code": …} and {"$code": …, "$scope": …} in either order.
bool UnwrapCode(View document, Builder* out) {
  const Value code = document["$code"];
  const Value scope = document["$scope"];
  if (!IsText(code)) return false;
  if (scope.missing()) {
    out->AppendCode(kKey, code.AsString());
    return true;
  }
  if (!scope.Is(Type::kObject)) return false;
  out->AppendCodeWithScope(kKey, code.AsString(), scope.AsDocument());
  return true;
}

bool UnwrapRegex(View document, Builder* out) {
  const Value content = document.Front().value;
  if (!content.Is(Type::kObject)) return false;
  const Value pattern = content.AsDocument()["pattern"];
  const Value options = content.AsDocument()["options"];
  if (!IsText(pattern) || !IsText(options)) return false;
  for (const Value part : {pattern, options}) {
    if (part.AsString().find('\0') != std::string_view::npos) return false;
  }
  out->AppendRegex(kKey, pattern.AsString(), options.AsString());
  return true;
}

bool UnwrapDbPointer(View document, Builder* out) {
  const Value content = document.Front().value;
  if (!content.Is(Type::kObject)) return false;
  const Value collection = content.AsDocument()["$ref"];
  const Value id = content.AsDocument()["$id"];
  if (!IsText(collection) || !id.Is(Type::kObjectId)) return false;
  out->AppendDbPointer(kKey, collection.AsString(), id.AsObjectId());
  return true;
}

bool UnwrapUndefined(View, Builder* out) {
  out->AppendUndefined(kKey);
  return true;
}

bool UnwrapMinKey(View, Builder* out) {
  out->AppendMinKey(kKey);
  return true;
}

bool UnwrapMaxKey(View, Builder* out) {
  out->AppendMaxKey(kKey);
  return true;
}

struct Row {
  std::string_view first;        // name of the first field
  std::string_view second = {};  // name of a second field that may be there
  bool (*unwrap)(View document, Builder* out) = nullptr;
};

constexpr Row kRows[] = {
    {.first = "$oid", .unwrap = UnwrapOid},
    {.first = "$numberInt", .unwrap = UnwrapInteger<int32_t>},
    {.first = "$numberLong", .unwrap = UnwrapInteger<int64_t>},
    {.first = "$numberDouble", .unwrap = UnwrapDouble},
    {.first = "$numberDecimal", .unwrap = UnwrapDecimal},
    {.first = "$date", .unwrap = UnwrapDate},
    {.first = "$timestamp", .unwrap = UnwrapTimestamp},
    {.first = "$binary", .second = "$type", .unwrap = UnwrapBinary},
    {.first = "$uuid", .unwrap = UnwrapUuid},
    {.first = "$symbol", .unwrap = UnwrapSymbol},
    {.first = "$code", .second = "$scope", .unwrap = UnwrapCode},
    {.first = "$scope", .second = "$code", .unwrap = UnwrapCode},
    {.first = "$regularExpression", .unwrap = UnwrapRegex},
    {.first = "$dbPointer", .unwrap = UnwrapDbPointer},
    {.first = "$undefined", .unwrap = UnwrapUndefined},
    {.first = "$minKey", .unwrap = UnwrapMinKey},
    {.first = "$maxKey", .unwrap = UnwrapMaxKey},
};

// True if every field but the first is the one that the row allows.
bool HasOnly(View document, const Row& row) {
  auto field = document.begin();
  if (++field == document.end()) return true;
  return field->key == row.second && ++field == document.end();
}

}  // namespace

JsonWrapper UnwrapJson(View document, OwnedValue* value) {
  const std::string_view first = document.Front().key;
  if (first.empty() || first[0] != '$') return JsonWrapper::kNone;
  for (const Row& row : kRows) {
    if (row.first != first) continue;
    Builder out;
    if (!HasOnly(document, row) || !row.unwrap(document, &out)) return JsonWrapper::kMalformed;
    *value = OwnedValue(out.Finish().view().Front().value);
    return JsonWrapper::kValue;
  }
  return JsonWrapper::kNone;
}

}  // namespace evenkeel::bson
