// Numbers: one order over all widths, exact, and equal bytes for equal values.
#include "storage/keys/number_key.h"

#include <gtest/gtest.h>

#include "tests/unit/storage/keys/key_test_lib.h"

namespace evenkeel::storage {
namespace {

TEST(NumberKey, AllPairsOfNumbersAreInOrder) {
  const std::vector<bson::OwnedValue> pool = NumberPool();
  EXPECT_GT(pool.size(), 600u);
  ExpectSameOrder(pool);
}

TEST(NumberKey, RandomNumbersAreInOrder) {
  ValueMaker maker(2);
  for (int round = 0; round < 5; ++round) {
    std::vector<bson::OwnedValue> pool;
    for (int i = 0; i < 200; ++i) pool.push_back(maker.Number());
    ExpectSameOrder(pool);
  }
}

// A decimal beside every double: below, equal where 34 digits are enough, above.
TEST(NumberKey, DecimalsAreInOrderWithTheirNearestDoubles) {
  base::Random random(3);
  for (int round = 0; round < 300; ++round) {
    const double real =
        std::ldexp(0.5 + random.Double() / 2, static_cast<int>(random.Uniform(2090)) - 1060);
    char text[64];
    std::snprintf(text, sizeof(text), "%.33e", real);
    const bson::DecimalParts parts = bson::DecodeDecimal(*bson::DecimalFromString(text));
    std::vector<bson::OwnedValue> pool = {Double(real), Double(std::nextafter(real, 0.0)),
                                          Double(std::nextafter(real, HUGE_VAL))};
    for (const unsigned step : {0u, 1u, 2u}) {
      bson::DecimalParts near = parts;
      near.coefficient += step;
      near.coefficient -= 1;
      pool.push_back(Decimal(bson::EncodeDecimal(near)));
    }
    ExpectSameOrder(pool);
  }
}

TEST(NumberKey, EqualNumbersHaveEqualBytes) {
  EXPECT_EQ(Encoded(Int32(1)), Encoded(Double(1)));
  EXPECT_EQ(Encoded(Int32(1)), Encoded(Int64(1)));
  EXPECT_EQ(Encoded(Int32(1)), Encoded(Decimal("1.000")));
  EXPECT_EQ(Encoded(Double(0.5)), Encoded(Decimal("0.50")));
  EXPECT_EQ(Encoded(Double(-0.0)), Encoded(Decimal("0E+3")));
  EXPECT_EQ(Encoded(Double(0x1p63)), Encoded(Decimal("9223372036854775808")));
  EXPECT_NE(Encoded(Double(0.1)), Encoded(Decimal("0.1")));
}

}  // namespace
}  // namespace evenkeel::storage
