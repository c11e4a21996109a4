// Tests of the text forms of values' parts.
#include "base/bson/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace evenkeel::bson {
namespace {

TEST(TextTest, HexAndBase64) {
  EXPECT_EQ(HexText(std::string_view("\x00\xAB\x7F", 3)), "00ab7f");
  EXPECT_EQ(Base64Text(""), "");
  EXPECT_EQ(Base64Text("f"), "Zg==");
  EXPECT_EQ(Base64Text("foo\xFF"), "Zm9v/w==");
}

TEST(TextTest, Dates) {
  struct Case {
    int64_t milliseconds;
    const char* text;
  };
  const Case cases[] = {
      {0, "1970-01-01T00:00:00Z"},
      {1, "1970-01-01T00:00:00.001Z"},
      {1360707177211, "2013-02-12T22:12:57.211Z"},
      {-1, "1969-12-31T23:59:59.999Z"},
      {951782400000, "2000-02-29T00:00:00Z"},
  };
  for (const Case& c : cases) EXPECT_EQ(IsoDateText(c.milliseconds), c.text);
}

TEST(TextTest, Doubles) {
  struct Case {
    double value;
    const char* text;
  };
  const Case cases[] = {
      {0, "0.0"},
      {-0.0, "-0.0"},
      {1, "1.0"},
      {0.1, "0.1"},
      {1e20, "1e+20"},
      {1e-7, "1e-07"},
      {123456789, "123456789.0"},
      {0.30000000000000004, "0.30000000000000004"},
      {NAN, "NaN"},
      {-INFINITY, "-Infinity"},
  };
  for (const Case& c : cases) EXPECT_EQ(DoubleText(c.value), c.text);
}

TEST(TextTest, Utf8Sequences) {
  struct Case {
    const char* text;
    size_t bytes;
  };
  const Case cases[] = {
      {"", 0},
      {"a", 1},
      {"\xC3\xA4", 2},
      {"\xE2\x82\xAC", 3},
      {"\xF0\x9F\x98\x80", 4},
      {"\x80", 0},              // continuation alone
      {"\xC3", 0},              // cut off
      {"\xC3x", 0},             // no continuation
      {"\xC0\x80", 0},          // overlong
      {"\xE0\x80\x80", 0},      // overlong
      {"\xF0\x80\x80\x80", 0},  // overlong
      {"\xED\xA0\x80", 0},      // surrogate
      {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
      {"\xF5\x80\x80\x80", 0},
  };
  for (const Case& c : cases) EXPECT_EQ(Utf8SequenceBytes(c.text), c.bytes);
}

TEST(TextTest, Escapes) {
  std::string out;
  AppendJsonEscaped(std::string_view("\"\\/\n\r\t\b\f\0\x1F\x7F", 11), &out);
  EXPECT_EQ(out, R"(\"\\/\n\r\t\b\f\u0000\u001f\u007f)");
}

}  // namespace
}  // namespace evenkeel::bson
