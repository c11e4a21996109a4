// Fuzz target: two BSON documents; their encodings are ordered as they are, and come back as they
// were.
//
// Input: the first document, then the second; anything else is ignored.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/bson/compare.h"
#include "base/bson/validate.h"
#include "base/check.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::storage {
namespace {

int SignOf(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

std::string Encoded(bson::Value value, Direction direction) {
  std::string out;
  AppendEncoded(value, direction, &out);
  return out;
}

// Decodes the encoding; what comes back has the same encoding and type bits. (Not always the same
// bytes: names of array elements are made anew.)
void CheckRoundTrip(bson::Value value, Direction direction) {
  const std::string encoded = Encoded(value, direction);
  std::string type_bits;
  AppendTypeBits(value, &type_bits);
  std::string_view key = encoded, bits = type_bits;
  const auto decoded = DecodeValue(&key, &bits, direction);
  EVENKEEL_CHECK(decoded.ok() && key.empty() && bits.empty());
  EVENKEEL_CHECK(decoded->value().type() == value.type());
  EVENKEEL_CHECK(Encoded(decoded->value(), direction) == encoded);
  std::string decoded_bits;
  AppendTypeBits(decoded->value(), &decoded_bits);
  EVENKEEL_CHECK(decoded_bits == type_bits);
}

void CheckPair(bson::Value a, bson::Value b) {
  const int order = SignOf(bson::Compare(a, b));
  for (const Direction direction : {Direction::kAscending, Direction::kDescending}) {
    const std::string x = Encoded(a, direction);
    const std::string y = Encoded(b, direction);
    const int keys = SignOf(x.compare(y));
    EVENKEEL_CHECK(keys == (direction == Direction::kAscending ? order : -order));
    EVENKEEL_CHECK(keys == 0 ||
                   (!std::string_view(x).starts_with(y) && !std::string_view(y).starts_with(x)));
    CheckRoundTrip(a, direction);
  }
}

// The length of the document at the front, or 0.
size_t DocumentBytes(std::string_view bytes) {
  if (bytes.size() < sizeof(int32_t)) return 0;
  const auto length = bson::LoadLittle<int32_t>(bytes.data());
  if (length < 5 || static_cast<size_t>(length) > bytes.size()) return 0;
  return bson::Validate(bytes.substr(0, static_cast<size_t>(length))).ok()
             ? static_cast<size_t>(length)
             : 0;
}

void Run(std::string_view bytes) {
  const size_t first = DocumentBytes(bytes);
  const size_t second = DocumentBytes(bytes.substr(first));
  if (first == 0 || second == 0) return;
  const bson::View a(bytes.data());
  const bson::View b(bytes.data() + first);
  CheckPair(bson::Value(bson::Type::kObject, a.data()), bson::Value(bson::Type::kObject, b.data()));
  for (const bson::Element& x : a) {
    for (const bson::Element& y : b) CheckPair(x.value, y.value);
  }
  // Bytes of any kind are refused or decoded, nothing else.
  std::string_view key = bytes, bits = bytes.substr(first);
  DecodeValue(&key, &bits, Direction::kAscending).status().IgnoreError();
}

}  // namespace
}  // namespace evenkeel::storage

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  evenkeel::storage::Run(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
