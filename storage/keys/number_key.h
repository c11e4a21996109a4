// Numbers as order-preserving bytes: one order over int32, int64, double and decimal128, exact.
// Internal to storage/keys.
//
// A positive number is written by its magnitude; a negative one is the inverted bytes of its
// magnitude.
//
//   1 <= x < 2^63   whole part shifted left by one, in as many bytes as it needs; the low bit tells
//                   that a fraction follows: as many bits as a double has left, and a bit that
//                   tells that more is behind them
//   other x         the bits of the double next towards zero, shifted left by one; the low bit
//                   tells that more is behind it
//   more            only of decimals: the exponent of the leading digit, then all digits, two in a
//                   byte
//
// So everything that a double or an integer holds is exact without "more", and decimals with equal
// values have equal bytes.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "base/bson/view.h"
#include "storage/keys/key_reader.h"

namespace evenkeel::storage {

// Requires a number.
void AppendNumberKey(bson::Value value, std::string* out);
void AppendNumberTypeBits(bson::Value value, std::string* out);

// Decodes a number, whose first byte is still to be read, and appends the bytes of the BSON value.
// Errors: InvalidBSON when the bytes are no number or do not go with the type bits.
absl::Status DecodeNumber(KeyReader* key, TypeBitsReader* type_bits, std::string* out,
                          bson::Type* type);

}  // namespace evenkeel::storage
