// The bytes that encoded values consist of: first bytes of the type classes, terminators, escapes.
// Internal to storage/keys.
//
// A number's first byte also tells its sign and magnitude: negative ones are the inverted bytes of
// the positive ones, so their first bytes lie symmetrically around the zero's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace evenkeel::storage::key_format {

inline constexpr uint8_t kEnd = 0x00;  // of strings, names and documents

inline constexpr uint8_t kMinKey = 0x10;
inline constexpr uint8_t kUndefined = 0x18;
inline constexpr uint8_t kNull = 0x20;

inline constexpr uint8_t kNaN = 0x70;
inline constexpr uint8_t kZero = 0x80;
inline constexpr uint8_t kBelowOne = 0x81;    // 0 < x < 1
inline constexpr uint8_t kWholeBytes = 0x81;  // + bytes of the whole part: 1 <= x < 2^63
inline constexpr uint8_t kHuge = 0x8A;        // 2^63 <= x
inline constexpr uint8_t kInfinity = 0x8B;
inline constexpr uint8_t kNumberMin = kNaN;
inline constexpr uint8_t kNumberMax = kInfinity;

inline constexpr uint8_t kString = 0x90;
inline constexpr uint8_t kObject = 0x98;
inline constexpr uint8_t kArray = 0xA0;
inline constexpr uint8_t kBinary = 0xA8;
inline constexpr uint8_t kObjectId = 0xB0;
inline constexpr uint8_t kFalse = 0xB8;
inline constexpr uint8_t kTrue = 0xB9;
inline constexpr uint8_t kDate = 0xC0;
inline constexpr uint8_t kTimestamp = 0xC8;
inline constexpr uint8_t kRegex = 0xD0;
inline constexpr uint8_t kDbPointer = 0xD8;
inline constexpr uint8_t kCode = 0xE0;
inline constexpr uint8_t kCodeWithScope = 0xE8;
inline constexpr uint8_t kMaxKey = 0xF0;

// Inside strings, where kEnd ends them: 0x00 is written as 01 01 and 0x01 as 01 02.
inline constexpr uint8_t kEscape = 0x01;

// Lengths of binary values: one byte, or this and four.
inline constexpr uint8_t kLongLength = 0xFF;

inline constexpr size_t kObjectIdBytes = 12;

// Type bits. The value 0 may be left away at the end.
inline constexpr uint8_t kTypeInt32 = 0;
inline constexpr uint8_t kTypeInt64 = 1;
inline constexpr uint8_t kTypeDouble = 2;
inline constexpr uint8_t kTypeNegativeZero = 3;  // a double
inline constexpr uint8_t kTypeDecimal = 4;       // + trailing zeros of the coefficient, 0 to 33
inline constexpr uint8_t kTypeDecimalZero = 38;  // two bytes follow: sign and exponent
inline constexpr uint8_t kTypeRawDouble = 39;    // its 8 bytes follow: unusual NaNs
inline constexpr uint8_t kTypeRawDecimal = 40;   // its 16 bytes follow: unusual encodings
inline constexpr uint8_t kTypeString = 0;
inline constexpr uint8_t kTypeSymbol = 1;
inline constexpr uint8_t kTypeNull = 0;
inline constexpr uint8_t kTypeMissing = 1;

}  // namespace evenkeel::storage::key_format
