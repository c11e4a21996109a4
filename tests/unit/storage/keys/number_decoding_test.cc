// Numbers come back in their width with all their bits; type bits that do not go with the key are
// refused.
#include <gtest/gtest.h>

#include "base/status.h"
#include "storage/keys/key_format.h"
#include "tests/unit/storage/keys/key_test_lib.h"

namespace evenkeel::storage {
namespace {

TEST(NumberDecoding, RandomBitsOfNumbersComeBack) {
  base::Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    ExpectRoundTrip({bson::Type::kDouble, random.Bytes(8)});
    ExpectRoundTrip({bson::Type::kDecimal128, random.Bytes(16)});
    ExpectRoundTrip({bson::Type::kInt64, random.Bytes(8)});
  }
}

absl::StatusOr<bson::OwnedValue> DecodeAs(const bson::OwnedValue& value, uint8_t type_bits) {
  const std::string encoded = Encoded(value);
  const std::string bits(1, static_cast<char>(type_bits));
  std::string_view key = encoded, rest = bits;
  return DecodeValue(&key, &rest, Direction::kAscending);
}

TEST(NumberDecoding, TheTypeBitsChooseTheWidth) {
  using namespace key_format;
  for (const auto& [bits, expected] :
       std::vector<std::pair<uint8_t, bson::OwnedValue>>{{kTypeInt32, Int32(-8)},
                                                         {kTypeInt64, Int64(-8)},
                                                         {kTypeDouble, Double(-8)},
                                                         {kTypeDecimal, Decimal("-8")},
                                                         {kTypeDecimal + 3, Decimal("-8.000")}}) {
    const auto decoded = DecodeAs(Int32(-8), bits);
    ASSERT_TRUE(decoded.ok());
    EXPECT_TRUE(bson::Identical(decoded->value(), expected.value())) << Show(*decoded);
  }
}

TEST(NumberDecoding, TypeBitsThatDoNotFitAreRefused) {
  using namespace key_format;
  struct Case {
    bson::OwnedValue value;
    uint8_t type_bits;
  };
  for (const Case& wrong : {
           Case{Double(1.5), kTypeInt32},
           Case{Int64(int64_t{1} << 40), kTypeInt32},
           Case{Int32(5), kTypeNegativeZero},
           Case{Int32(5), kTypeDecimalZero},
           Case{Decimal("0.1"), kTypeDouble},
           Case{Int64((int64_t{1} << 53) + 1), kTypeDouble},
           Case{Double(1e300), kTypeInt64},
           Case{Double(0x1p-1000), kTypeDecimal},
           Case{Decimal("1234567890123456789012345678901234"), kTypeDecimal + 1},
           Case{Int32(0), kTypeDecimal},
           Case{Double(HUGE_VAL), kTypeInt64},
           Case{Int32(5), 200},
       }) {
    EXPECT_EQ(CodeOf(DecodeAs(wrong.value, wrong.type_bits).status()), ErrorCode::kInvalidBSON)
        << Show(wrong.value) << " as " << int{wrong.type_bits};
  }
}

}  // namespace
}  // namespace evenkeel::storage
