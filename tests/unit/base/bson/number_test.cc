// Tests of promotion, exact comparison and conversion of numbers.
#include "base/bson/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/bson/json.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Type and value, "int64 5".
std::string Shown(const Number& number) {
  const char* type = number.type == Type::kInt32    ? "int32 "
                     : number.type == Type::kInt64  ? "int64 "
                     : number.type == Type::kDouble ? "double "
                                                    : "decimal ";
  return type + ToDisplay(number.ToValue());
}

Number From(const OwnedValue& value) { return Number::From(value.value()); }

TEST(NumberTest, RoundTripsThroughValues) {
  for (const OwnedValue& value : {Int(-5), Long(INT64_MIN), Real(-0.5), Dec("1.50")}) {
    EXPECT_EQ(Number::From(value).ToValue().value().Bytes(), value.value().Bytes());
  }
}

TEST(NumberTest, Addition) {
  struct Case {
    OwnedValue a;
    OwnedValue b;
    const char* sum;
  };
  const Case cases[] = {
      {Int(1), Int(2), "int32 3"},
      {Int(INT32_MAX), Int(1), "int64 2147483648"},
      {Int(INT32_MIN), Int(-1), "int64 -2147483649"},
      {Int(1), Long(2), "int64 3"},
      {Long(INT64_MAX), Int(1), "double 9.223372036854776e+18"},
      {Long(INT64_MIN), Long(-1), "double -9.223372036854776e+18"},
      {Int(1), Real(0.5), "double 1.5"},
      {Long(1), Real(kInfinity), "double Infinity"},
      {Real(0.1), Real(0.2), "double 0.30000000000000004"},
      {Dec("0.1"), Dec("0.2"), "decimal 0.3"},
      {Dec("0.1"), Int(1), "decimal 1.1"},
      {Dec("0.1"), Long(INT64_MAX), "decimal 9223372036854775807.1"},
      {Dec("1"), Real(0.1), "decimal 1.100000000000000"},
      {Dec("9999999999999999999999999999999999"), Int(1),
       "decimal 1.000000000000000000000000000000000E+34"},
      {Dec("Infinity"), Dec("-Infinity"), "decimal NaN"},
      {Dec("1"), Real(std::nan("")), "decimal NaN"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Shown(Add(From(c.a), From(c.b))), c.sum);
    EXPECT_EQ(Shown(Add(From(c.b), From(c.a))), c.sum);
  }
}

TEST(NumberTest, Subtraction) {
  EXPECT_EQ(Shown(Subtract(From(Int(1)), From(Int(2)))), "int32 -1");
  EXPECT_EQ(Shown(Subtract(From(Int(INT32_MIN)), From(Int(1)))), "int64 -2147483649");
  EXPECT_EQ(Shown(Subtract(From(Long(INT64_MIN)), From(Int(1)))), "double -9.223372036854776e+18");
  EXPECT_EQ(Shown(Subtract(From(Real(1)), From(Int(1)))), "double 0.0");
  EXPECT_EQ(Shown(Subtract(From(Dec("1.5")), From(Int(1)))), "decimal 0.5");
}

TEST(NumberTest, Multiplication) {
  struct Case {
    OwnedValue a;
    OwnedValue b;
    const char* product;
  };
  const Case cases[] = {
      {Int(6), Int(7), "int32 42"},
      {Int(65536), Int(65536), "int64 4294967296"},
      {Int(2), Long(3), "int64 6"},
      {Long(INT64_MAX), Long(2), "double 1.8446744073709552e+19"},
      {Long(INT64_MIN), Int(-1), "double 9.223372036854776e+18"},
      {Int(2), Real(0.25), "double 0.5"},
      {Dec("1.10"), Dec("2.0"), "decimal 2.200"},
      {Dec("1E+6144"), Int(10), "decimal Infinity"},
      {Dec("1E-6176"), Dec("0.1"), "decimal 0E-6176"},
      {Dec("1"), Real(2), "decimal 2.00000000000000"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Shown(Multiply(From(c.a), From(c.b))), c.product);
    EXPECT_EQ(Shown(Multiply(From(c.b), From(c.a))), c.product);
  }
}

int SignOf(int order) { return order < 0 ? -1 : (order > 0 ? 1 : 0); }

// Checks both directions.
void ExpectOrder(const OwnedValue& a, const OwnedValue& b, int expected) {
  EXPECT_EQ(SignOf(CompareNumbers(a, b)), expected) << ToDisplay(a) << " and " << ToDisplay(b);
  EXPECT_EQ(SignOf(CompareNumbers(b, a)), -expected) << ToDisplay(b) << " and " << ToDisplay(a);
}

TEST(CompareNumbersTest, Edges) {
  struct Case {
    OwnedValue a;
    OwnedValue b;
    int order;
  };
  const Case cases[] = {
      {Long((int64_t{1} << 53) + 1), Real(0x1p53), 1},
      {Long(INT64_MAX), Real(0x1p63), -1},
      {Long(INT64_MIN), Real(-0x1p63), 0},
      {Long(INT64_MIN), Real(-9223372036854777856.0), 1},
      {Long(-3), Real(-3.5), 1},
      {Long(3), Real(3.5), -1},
      {Real(0.1), Dec("0.1"), 1},
      {Real(0.1), Dec("0.1000000000000000055511151231257827"), 1},
      {Real(0.1), Dec("0.1000000000000000055511151231257828"), -1},
      {Real(0.5), Dec("0.50000"), 0},
      {Real(5e-324), Dec("4.940656458412465441765687928682213E-324"), 1},
      {Real(5e-324), Dec("4.940656458412465441765687928682214E-324"), -1},
      {Real(-5e-324), Dec("-1E-6176"), -1},
      {Real(1.7976931348623157e308), Dec("1.797693134862315708145274237317043E+308"), 1},
      {Real(1.7976931348623157e308), Dec("1.797693134862315708145274237317044E+308"), -1},
      {Real(-1e300), Dec("-1E+300"), -1},
      {Real(1e22), Dec("1E+22"), 0},
      {Real(1e23), Dec("1E+23"), -1},
      {Real(kInfinity), Dec("9.9E+6144"), 1},
      {Real(-kInfinity), Dec("-Infinity"), 0},
      {Real(std::nan("")), Dec("-Infinity"), -1},
      {Real(std::nan("")), Dec("NaN"), 0},
      {Long(INT64_MAX), Dec("9223372036854775807"), 0},
      {Long(INT64_MAX), Dec("9223372036854775807.000000000000001"), -1},
      {Long(INT64_MIN), Dec("-9223372036854775808.1"), 1},
      {Int(0), Dec("-0E-6176"), 0},
      {Int(0), Dec("-1E-6176"), 1},
      {Dec("1E+6111"), Dec("1000000000000000000000000000000000E+6078"), 0},
      {Dec("9999999999999999999999999999999999"), Dec("1E+34"), -1},
      {Dec("-5"), Dec("-50E-1"), 0},
      {Dec("Infinity"), Dec("9E+6144"), 1},
  };
  for (const Case& c : cases) ExpectOrder(c.a, c.b, c.order);
}

TEST(CompareNumbersTest, RandomInt64WithDoubleAgreesWithLongDouble) {
  static_assert(std::numeric_limits<long double>::digits >= 64, "holds both exactly");
  base::Random random(3);
  for (int i = 0; i < 50'000; ++i) {
    const auto integer = static_cast<int64_t>(random.Next64()) >> random.Uniform(64);
    double real = static_cast<double>(integer);
    for (uint64_t step = random.Uniform(3); step > 0; --step) {
      real = std::nextafter(real, random.Chance(0.5) ? kInfinity : -kInfinity);
    }
    if (random.Chance(0.2)) real += 0.5;
    const auto a = static_cast<long double>(integer);
    const auto b = static_cast<long double>(real);
    ExpectOrder(Long(integer), Real(real), a < b ? -1 : (a > b ? 1 : 0));
  }
}

TEST(CompareNumbersTest, RandomFractionsAgreeWithCrossMultiplication) {
  __extension__ typedef __int128 Int128;
  base::Random random(4);
  for (int i = 0; i < 50'000; ++i) {
    // numerator / 2^shift against coefficient / 10^scale: both exact, the products fit into 128
    // bits.
    const auto numerator = static_cast<int64_t>(random.Next64() >> (24 + random.Uniform(40)));
    const int shift = static_cast<int>(random.Uniform(20));
    const int scale = static_cast<int>(random.Uniform(12));
    const Int128 scaled = static_cast<Int128>(numerator) * static_cast<Int128>(PowerOfTen(scale));
    auto coefficient = static_cast<int64_t>(scaled >> shift);
    coefficient += static_cast<int64_t>(random.Uniform(3)) - 1;
    if (coefficient < 0) coefficient = 0;
    const Int128 left = scaled;
    const Int128 right = static_cast<Int128>(coefficient) << shift;
    const int expected = left < right ? -1 : (left > right ? 1 : 0);
    const bool negative = random.Chance(0.5);
    const double real = std::ldexp(static_cast<double>(numerator), -shift);
    const std::string text = std::to_string(coefficient) + "E-" + std::to_string(scale);
    if (negative) {
      ExpectOrder(Real(-real), Dec("-" + text), -expected);
    } else {
      ExpectOrder(Real(real), Dec(text), expected);
    }
  }
}

TEST(CompareNumbersTest, RandomDoublesLieBetweenTheirDecimalNeighbours) {
  base::Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t bits = random.Next64();
    double real = 0;
    std::memcpy(&real, &bits, sizeof(real));
    if (!std::isfinite(real) || real == 0) continue;
    // The 34-digit decimal next to a double is closer to it than the next decimals on both sides.
    const DecimalParts parts = DecodeDecimal(DecimalFromDoubleExact(real));
    DecimalParts below = parts;
    DecimalParts above = parts;
    if (parts.coefficient < 2 || parts.coefficient + 1 >= PowerOfTen(kDecimalDigitsMax)) continue;
    (parts.negative ? below : above).coefficient += 1;
    (parts.negative ? above : below).coefficient -= 1;
    ExpectOrder(Real(real), Number::Decimal(EncodeDecimal(below)).ToValue(), 1);
    ExpectOrder(Real(real), Number::Decimal(EncodeDecimal(above)).ToValue(), -1);
  }
}

// Over all sizes of doubles and all lengths of coefficients, with logarithms as the judge.
TEST(CompareNumbersTest, EveryBinaryExponentAgreesWithLogarithms) {
  for (int exponent = -1074; exponent <= 1023; ++exponent) {
    const double real = std::ldexp(1.0, exponent);
    const int order = static_cast<int>(std::floor(std::log10(real)));
    for (const int digits : {1, 2, 17, 33, 34}) {
      for (const Uint128 coefficient : {PowerOfTen(digits - 1), PowerOfTen(digits) - 1}) {
        for (int step = -4; step <= 4; ++step) {
          const int scale = order - digits + 1 + step;
          const Decimal128Bits bits =
              EncodeDecimal({.coefficient = coefficient, .exponent = scale});
          const double difference = static_cast<double>(exponent) * std::log10(2.0) -
                                    std::log10(static_cast<double>(coefficient)) - scale;
          if (std::fabs(difference) < 1e-9) continue;
          ExpectOrder(Real(real), Number::Decimal(bits).ToValue(), difference < 0 ? -1 : 1);
        }
      }
    }
  }
}

TEST(CompareNumbersTest, RandomDecimalsAgreeWithSubtraction) {
  base::Random random(6);
  for (int i = 0; i < 20'000; ++i) {
    const auto make = [&random] {
      DecimalParts parts;
      parts.negative = random.Chance(0.5);
      parts.coefficient =
          (Uint128{random.Next64()} << 48 | random.Next64() >> 16) >> random.Uniform(112);
      parts.exponent = static_cast<int>(random.Uniform(40)) - 20;
      return EncodeDecimal(parts);
    };
    const Decimal128Bits a = make();
    const Decimal128Bits b = make();
    const Decimal128Bits difference = DecimalSubtract(a, b);
    const int expected = DecimalIsZero(difference) ? 0 : (DecimalIsNegative(difference) ? -1 : 1);
    ExpectOrder(Number::Decimal(a).ToValue(), Number::Decimal(b).ToValue(), expected);
  }
}

TEST(ConversionTest, TruncatedToInt64) {
  struct Case {
    OwnedValue number;
    int64_t whole;
  };
  const Case cases[] = {
      {Int(-7), -7},
      {Long(INT64_MIN), INT64_MIN},
      {Real(2.9), 2},
      {Real(-2.9), -2},
      {Real(std::nan("")), 0},
      {Real(1e300), INT64_MAX},
      {Real(-1e300), INT64_MIN},
      {Real(0x1p63), INT64_MAX},
      {Real(-kInfinity), INT64_MIN},
      {Dec("2.9"), 2},
      {Dec("-2.9"), -2},
      {Dec("1E-100"), 0},
      {Dec("1E+18"), 1'000'000'000'000'000'000},
      {Dec("1E+19"), INT64_MAX},
      {Dec("-1E+6000"), INT64_MIN},
      {Dec("NaN"), 0},
      {Dec("-Infinity"), INT64_MIN},
      {Dec("9223372036854775807.9"), INT64_MAX},
      {Dec("-9223372036854775808"), INT64_MIN},
      {Dec("-9223372036854775809"), INT64_MIN},
      {Dec("0E+6000"), 0},
      {Dec("123456789.123456789123456789"), 123456789},
  };
  for (const Case& c : cases) EXPECT_EQ(ToInt64Truncated(c.number), c.whole) << ToDisplay(c.number);
}

TEST(ConversionTest, ExactInt64) {
  struct Case {
    OwnedValue number;
    std::optional<int64_t> exact;
  };
  const Case cases[] = {
      {Int(3), 3},
      {Long(INT64_MAX), INT64_MAX},
      {Real(3.0), 3},
      {Real(-0.0), 0},
      {Real(3.5), std::nullopt},
      {Real(-0x1p63), INT64_MIN},
      {Real(0x1p63), std::nullopt},
      {Real(std::nan("")), std::nullopt},
      {Real(kInfinity), std::nullopt},
      {Dec("3.00"), 3},
      {Dec("3E+2"), 300},
      {Dec("3.01"), std::nullopt},
      {Dec("1E-40"), std::nullopt},
      {Dec("0E-40"), 0},
      {Dec("9223372036854775807"), INT64_MAX},
      {Dec("9223372036854775808"), std::nullopt},
      {Dec("-9223372036854775808"), INT64_MIN},
      {Dec("-9223372036854775809"), std::nullopt},
      {Dec("1E+100"), std::nullopt},
      {Dec("NaN"), std::nullopt},
      {Dec("Infinity"), std::nullopt},
      {Text("3"), std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(ToInt64Exact(c.number), c.exact) << ToDisplay(c.number);
}

TEST(ConversionTest, ToDouble) {
  EXPECT_EQ(ToDouble(Int(3)), 3.0);
  EXPECT_EQ(ToDouble(Long(INT64_MAX)), 0x1p63);
  EXPECT_EQ(ToDouble(Dec("0.1")), 0.1);
  EXPECT_EQ(ToDouble(Dec("1E+400")), kInfinity);
  EXPECT_TRUE(std::isnan(ToDouble(Dec("NaN"))));
}

TEST(TruthyTest, FollowsMongoDb) {
  const Document document = Json(R"({
    "f": [false, 0, {"$numberLong":"0"}, 0.0, {"$numberDouble":"-0.0"},
          {"$numberDecimal":"0E+3"}, null,
          {"$undefined":true}],
    "t": [true, 1, {"$numberLong":"-1"}, 0.1, {"$numberDouble":"NaN"}, {"$numberDecimal":"0.1"},
          "", {}, [],
          {"$date":{"$numberLong":"0"}}, {"$minKey":1}]})");
  for (const Element& e : document["f"].AsDocument())
    EXPECT_FALSE(Truthy(e.value)) << ToDisplay(e.value);
  for (const Element& e : document["t"].AsDocument())
    EXPECT_TRUE(Truthy(e.value)) << ToDisplay(e.value);
  EXPECT_FALSE(Truthy(Value()));
}

}  // namespace
}  // namespace evenkeel::bson
