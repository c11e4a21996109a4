// Strings as expressions see them: values coerced to text, UTF-8 code points.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string_view>

#include "base/bson/view.h"
#include "query/expr/kernel.h"

namespace evenkeel::query::expr {

// The text of a value for operators that take more than strings ($toLower, $substrBytes, …): null
// is empty, numbers and dates are written out. Errors: 16007 for other types. The result points
// into the value or the arena.
absl::StatusOr<std::string_view> CoerceToText(const Call& call, bson::Value value);

// True for a byte inside a code point.
inline bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }
// The number of code points of valid UTF-8.
size_t CountCodePoints(std::string_view text);
// The byte offset of code point `index`; the size when there are fewer.
size_t CodePointOffset(std::string_view text, size_t index);

}  // namespace evenkeel::query::expr
