// Implements the text forms of values' parts.
#include "base/bson/text.h"

#include <absl/strings/escaping.h>
#include <absl/time/time.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace evenkeel::bson {
namespace {

absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The escape of a character that has a short one in JSON, or 0.
char ShortEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    default:
      return 0;
  }
}

}  // namespace

std::string HexText(std::string_view bytes) { return absl::BytesToHexString(ToAbsl(bytes)); }

std::string Base64Text(std::string_view bytes) { return absl::Base64Escape(ToAbsl(bytes)); }

std::string IsoDateText(int64_t milliseconds) {
  const char* format = milliseconds % 1000 == 0 ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%dT%H:%M:%E3SZ";
  return absl::FormatTime(format, absl::FromUnixMillis(milliseconds), absl::UTCTimeZone());
}

std::string DoubleText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text.append(".0");
  return text;
}

size_t Utf8SequenceBytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : (lead >= 0xE0 ? 3 : 2);
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

void AppendJsonEscaped(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceBytes(text);
    const char c = text[0];
    if (length == 0) {
      out->append("\xEF\xBF\xBD");
    } else if (length > 1) {
      out->append(text.substr(0, length));
    } else if (const char escape = ShortEscape(c); escape != 0) {
      out->push_back('\\');
      out->push_back(escape);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out->push_back(c);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace evenkeel::bson
