// Small pieces of text for values: hexadecimal, base64, dates, doubles, escapes. Shared by the JSON
// and display writers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel::bson {

// Lower-case hexadecimal digits.
std::string HexText(std::string_view bytes);
// Standard base64 with padding.
std::string Base64Text(std::string_view bytes);
// "2026-01-31T10:00:00Z", with milliseconds where there are any.
std::string IsoDateText(int64_t milliseconds);
// The shortest text that reads back as the same double, always with a point, exponent, or name:
// "1.0", "NaN", "-Infinity".
std::string DoubleText(double value);
// Appends `text` as the inside of a JSON string. Bytes that are no UTF-8 become U+FFFD.
void AppendJsonEscaped(std::string_view text, std::string* out);
// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
size_t Utf8SequenceBytes(std::string_view text);

}  // namespace evenkeel::bson
