// Decoding: values come back as they were, and damaged keys are refused.
#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/unit/storage/keys/key_test_lib.h"

namespace evenkeel::storage {
namespace {

TEST(KeyDecoding, EveryValueOfThePoolComesBack) {
  for (const bson::OwnedValue& value : ValuePool()) ExpectRoundTrip(value);
}

TEST(KeyDecoding, RandomValuesComeBack) {
  ValueMaker maker(1);
  for (int i = 0; i < 3000; ++i) ExpectRoundTrip(maker.Next());
}

TEST(KeyDecoding, MissingComesBackAsMissing) {
  std::string encoded, type_bits;
  AppendEncoded(bson::Value(), Direction::kAscending, &encoded);
  AppendTypeBits(bson::Value(), &type_bits);
  std::string_view key = encoded, bits = type_bits;
  EXPECT_TRUE(DecodeValue(&key, &bits, Direction::kAscending)->value().missing());
}

TEST(KeyDecoding, TrailingZeroTypeBitsMayBeLeftAway) {
  const bson::OwnedValue value = Array({Double(1.5), Text("a"), Int32(7), Text("b")});
  std::string encoded = Encoded(value), type_bits;
  AppendTypeBits(value.value(), &type_bits);
  EXPECT_EQ(type_bits, std::string("\x02\0\0\0", 4));
  std::string_view key = encoded, bits = std::string_view(type_bits).substr(0, 1);
  EXPECT_TRUE(
      bson::Identical(DecodeValue(&key, &bits, Direction::kAscending)->value(), value.value()));
}

TEST(KeyDecoding, CutKeysAreRefused) {
  for (const bson::OwnedValue& value : ValuePool()) {
    const std::string encoded = Encoded(value);
    std::string type_bits;
    AppendTypeBits(value.value(), &type_bits);
    for (size_t length = 0; length < encoded.size(); ++length) {
      std::string_view key = std::string_view(encoded).substr(0, length);
      std::string_view bits = type_bits;
      const auto decoded = DecodeValue(&key, &bits, Direction::kAscending);
      ASSERT_EQ(CodeOf(decoded.status()), ErrorCode::kInvalidBSON)
          << Show(value) << " at " << length;
    }
  }
}

TEST(KeyDecoding, RandomBytesNeverDoHarm) {
  base::Random random(3);
  ValueMaker maker(4);
  for (int i = 0; i < 50'000; ++i) {
    std::string encoded =
        random.Chance(0.5) ? random.Bytes(random.Uniform(40)) : Encoded(maker.Next());
    if (!encoded.empty())
      encoded[random.Uniform(encoded.size())] = static_cast<char>(random.Next64());
    const std::string type_bits = random.Bytes(random.Uniform(10));
    std::string_view key = encoded, bits = type_bits;
    const auto decoded = DecodeValue(&key, &bits, Direction::kAscending);
    if (!decoded.ok()) {
      ASSERT_EQ(CodeOf(decoded.status()), ErrorCode::kInvalidBSON);
    }
  }
}

TEST(KeyDecoding, DeepNestingIsRefused) {
  const std::string encoded(100'000, '\xA0');  // arrays in arrays
  std::string_view key = encoded, bits;
  EXPECT_EQ(CodeOf(DecodeValue(&key, &bits, Direction::kAscending).status()),
            ErrorCode::kInvalidBSON);
}

}  // namespace
}  // namespace evenkeel::storage
