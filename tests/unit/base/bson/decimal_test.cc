// Tests of decimal128: encoding, text, conversion and arithmetic.
#include "base/bson/decimal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/bson/number.h"
#include "base/random.h"
#include "base/status.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

Decimal128Bits D(std::string_view text) { return *DecimalFromString(text); }
std::string S(Decimal128Bits bits) { return DecimalToString(bits); }

TEST(DecimalTest, TextRoundTrips) {
  for (const char* text :
       {"0", "-0", "1", "-1", "0.1", "0.10", "1E+3", "0E+3", "0E-6176", "1.5E-7", "123456.789",
        "9.999999999999999999999999999999999E+6144", "1E-6176", "NaN", "Infinity", "-Infinity",
        "1234567890123456789012345678901234", "0.000001", "1E-7"}) {
    EXPECT_EQ(S(D(text)), text);
  }
}

TEST(DecimalTest, TextIsNormalised) {
  struct Case {
    const char* text;
    const char* shown;
  };
  const Case cases[] = {
      {"+1", "1"},
      {".5", "0.5"},
      {"5.", "5"},
      {"1e3", "1E+3"},
      {"1E+03", "1E+3"},
      {"-.5e-1", "-0.05"},
      {"nan", "NaN"},
      {"-nan", "NaN"},
      {"inf", "Infinity"},
      {"-INFINITY", "-Infinity"},
      {"+Inf", "Infinity"},
      {"007", "7"},
      {"1E+7000", "Infinity"},
      {"1E-7000", "0E-6176"},
      {"12345678901234567890123456789012345", "1.234567890123456789012345678901234E+34"},
      {"0.99999999999999999999999999999999999", "1.000000000000000000000000000000000"},
      {"12345678901234567890123456789012344.9", "1.234567890123456789012345678901234E+34"},
      {"1E+6144", "1.000000000000000000000000000000000E+6144"},
  };
  for (const Case& c : cases) EXPECT_EQ(S(D(c.text)), c.shown) << c.text;
}

TEST(DecimalTest, RefusesOtherText) {
  for (const char* text : {"", " ", "+", "-", ".", "e5", "1e", "1e+", "1.2.3", "1 ", " 1", "0x10",
                           "1,5", "nano", "infin", "--1", "1e5.5", "1_000"}) {
    const absl::StatusOr<Decimal128Bits> parsed = DecimalFromString(text);
    EXPECT_EQ(CodeOf(parsed.status()), ErrorCode::kFailedToParse) << text;
  }
  EXPECT_FALSE(DecimalFromString(std::string_view("1\0", 2)).ok());
}

TEST(DecimalTest, DecodesAndEncodes) {
  const DecimalParts parts = DecodeDecimal(D("-12.50"));
  EXPECT_TRUE(parts.negative);
  EXPECT_EQ(parts.coefficient, Uint128{1250});
  EXPECT_EQ(parts.exponent, -2);
  base::Random random(1);
  for (int i = 0; i < 1000; ++i) {
    DecimalParts made;
    made.negative = random.Chance(0.5);
    made.coefficient =
        (Uint128{random.Next64()} << 64 | random.Next64()) % PowerOfTen(kDecimalDigitsMax);
    made.exponent = static_cast<int>(random.Uniform(12288)) + kDecimalExponentMin;
    const Decimal128Bits bits = EncodeDecimal(made);
    EXPECT_EQ(EncodeDecimal(DecodeDecimal(bits)), bits);
    EXPECT_EQ(D(S(bits)), bits) << S(bits);
  }
}

TEST(DecimalTest, NonCanonicalEncodingsAreZero) {
  const Decimal128Bits too_large{~uint64_t{0}, 0x3041FFFFFFFFFFFF};
  EXPECT_TRUE(DecimalIsZero(too_large));
  const Decimal128Bits second_form{1, uint64_t{0x6C10000000000000}};
  EXPECT_TRUE(DecimalIsZero(second_form));
  EXPECT_TRUE(DecimalIsZero(DecimalAdd(too_large, second_form))) << "the library agrees";
  EXPECT_FALSE(Truthy(Number::Decimal(too_large).ToValue()));
}

TEST(DecimalTest, Predicates) {
  EXPECT_TRUE(DecimalIsNaN(D("NaN")));
  EXPECT_FALSE(DecimalIsNaN(D("Infinity")));
  EXPECT_TRUE(DecimalIsInfinite(D("-Infinity")));
  EXPECT_FALSE(DecimalIsInfinite(D("NaN")));
  EXPECT_FALSE(DecimalIsInfinite(D("9E+6144")));
  EXPECT_TRUE(DecimalIsNegative(D("-0")));
  EXPECT_FALSE(DecimalIsZero(D("1E-6176")));
}

TEST(DecimalTest, FromDoubleKeepsFifteenDigits) {
  struct Case {
    double value;
    const char* shown;
  };
  const Case cases[] = {
      {0.1, "0.100000000000000"},
      {10.0, "10.0000000000000"},
      {-5.5, "-5.50000000000000"},
      {1.0 / 3, "0.333333333333333"},
      {123456789.123456789, "123456789.123457"},
      {1e300, "1.00000000000000E+300"},
      {5e-324, "4.94065645841247E-324"},
      {0.0, "0"},
      {-0.0, "-0"},
      {std::numeric_limits<double>::infinity(), "Infinity"},
      {-std::numeric_limits<double>::infinity(), "-Infinity"},
      {std::nan(""), "NaN"},
  };
  for (const Case& c : cases) EXPECT_EQ(S(DecimalFromDouble(c.value)), c.shown);
}

TEST(DecimalTest, FromDoubleExactKeepsThirtyFour) {
  EXPECT_EQ(S(DecimalFromDoubleExact(0.1)), "0.1000000000000000055511151231257827");
  EXPECT_EQ(S(DecimalFromDoubleExact(0.5)), "0.5");
  // $avg of 0.1 and NumberDecimal("0.2"), as MongoDB computes it.
  const Decimal128Bits sum = DecimalAdd(DecimalFromDoubleExact(0.1), D("0.2"));
  EXPECT_EQ(S(DecimalDivide(sum, D("2"))), "0.1500000000000000027755575615628914");
}

TEST(DecimalTest, FromInt64) {
  EXPECT_EQ(S(DecimalFromInt64(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(S(DecimalFromInt64(INT64_MAX)), "9223372036854775807");
  EXPECT_EQ(S(DecimalFromInt64(0)), "0");
}

TEST(DecimalTest, DoublesSurviveTheRoundTrip) {
  base::Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bits = random.Next64();
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isnan(value)) continue;
    EXPECT_EQ(DecimalToDouble(DecimalFromDoubleExact(value)), value);
  }
}

TEST(DecimalTest, Arithmetic) {
  EXPECT_EQ(S(DecimalAdd(D("1.10"), D("2.2"))), "3.30");
  EXPECT_EQ(S(DecimalSubtract(D("1"), D("1.00"))), "0.00");
  EXPECT_EQ(S(DecimalMultiply(D("0.1"), D("0.1"))), "0.01");
  EXPECT_EQ(S(DecimalDivide(D("1"), D("3"))), "0.3333333333333333333333333333333333");
  EXPECT_EQ(S(DecimalDivide(D("1"), D("0"))), "Infinity");
  EXPECT_EQ(S(DecimalDivide(D("0"), D("0"))), "NaN");
  EXPECT_EQ(S(DecimalDivide(DecimalFromDouble(10.0), D("2"))), "5.0000000000000");
  EXPECT_EQ(S(DecimalModulo(D("-7.5"), D("2"))), "-1.5");
  EXPECT_EQ(S(DecimalModulo(D("7"), D("-4"))), "3");
  EXPECT_EQ(S(DecimalPower(D("2"), D("10"))), "1024");
  EXPECT_EQ(S(DecimalAtan2(D("0"), D("1"))), "0E-6176");
}

TEST(DecimalTest, Functions) {
  struct Case {
    DecimalFunction function;
    const char* argument;
    const char* result;
  };
  const Case cases[] = {
      {DecimalFunction::kAbsolute, "-1.5", "1.5"},
      {DecimalFunction::kNegate, "1.5", "-1.5"},
      {DecimalFunction::kCeil, "1.2", "2"},
      {DecimalFunction::kFloor, "-1.2", "-2"},
      {DecimalFunction::kTruncate, "-1.9", "-1"},
      {DecimalFunction::kRoundHalfEven, "2.5", "2"},
      {DecimalFunction::kSqrt, "4", "2"},
      {DecimalFunction::kSqrt, "-4", "NaN"},
      {DecimalFunction::kExp, "-1", "0.3678794411714423215955237701614609"},
      {DecimalFunction::kLn, "1", "0"},
      {DecimalFunction::kLog10, "100", "2"},
      {DecimalFunction::kSin, "0", "0"},
      {DecimalFunction::kCos, "0", "1.000000000000000000000000000000000"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(S(DecimalApply(c.function, D(c.argument))), c.result) << c.argument;
}

// Every function is wired to its own name: compared with the C library near one point.
TEST(DecimalTest, FunctionsAgreeWithDoubles) {
  struct Case {
    DecimalFunction function;
    double (*same)(double);
    double argument;
  };
  const Case cases[] = {
      {DecimalFunction::kSqrt, std::sqrt, 0.7},   {DecimalFunction::kExp, std::exp, 0.7},
      {DecimalFunction::kLn, std::log, 0.7},      {DecimalFunction::kLog10, std::log10, 0.7},
      {DecimalFunction::kSin, std::sin, 0.7},     {DecimalFunction::kCos, std::cos, 0.7},
      {DecimalFunction::kTan, std::tan, 0.7},     {DecimalFunction::kAsin, std::asin, 0.7},
      {DecimalFunction::kAcos, std::acos, 0.7},   {DecimalFunction::kAtan, std::atan, 0.7},
      {DecimalFunction::kSinh, std::sinh, 0.7},   {DecimalFunction::kCosh, std::cosh, 0.7},
      {DecimalFunction::kTanh, std::tanh, 0.7},   {DecimalFunction::kAsinh, std::asinh, 0.7},
      {DecimalFunction::kAcosh, std::acosh, 1.7}, {DecimalFunction::kAtanh, std::atanh, 0.7},
      {DecimalFunction::kCeil, std::ceil, 0.7},   {DecimalFunction::kFloor, std::floor, 0.7},
  };
  for (const Case& c : cases) {
    const Decimal128Bits result = DecimalApply(c.function, DecimalFromDoubleExact(c.argument));
    EXPECT_NEAR(DecimalToDouble(result), c.same(c.argument), 1e-14) << static_cast<int>(c.function);
  }
}

TEST(DecimalTest, Quantize) {
  using enum DecimalRounding;
  EXPECT_EQ(S(DecimalQuantize(D("1.2345"), -2, kHalfEven)), "1.23");
  EXPECT_EQ(S(DecimalQuantize(D("1.235"), -2, kHalfEven)), "1.24");
  EXPECT_EQ(S(DecimalQuantize(D("1.245"), -2, kHalfEven)), "1.24");
  EXPECT_EQ(S(DecimalQuantize(D("1.239"), -2, kTowardsZero)), "1.23");
  EXPECT_EQ(S(DecimalQuantize(D("155"), 1, kHalfEven)), "1.6E+2");
  EXPECT_EQ(S(DecimalQuantize(D("1"), -40, kHalfEven)), "NaN");
}

}  // namespace
}  // namespace evenkeel::bson
