// Tests of the short text of values in error messages.
#include <gtest/gtest.h>

#include <string>

#include "base/bson/json.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

TEST(DisplayTest, EveryType) {
  struct Case {
    const char* json;
    const char* shown;
  };
  const Case cases[] = {
      {"1", "1"},
      {R"({"$numberLong":"5"})", "5"},
      {"1.0", "1.0"},
      {"-0.25", "-0.25"},
      {R"({"$numberDecimal":"1.50"})", "1.50"},
      {R"("text")", "\"text\""},
      {R"({"$symbol":"s"})", "\"s\""},
      {R"({"a": 1, "b": ["x", {}, []]})", R"({ a: 1, b: [ "x", {}, [] ] })"},
      {"true", "true"},
      {"null", "null"},
      {R"({"$undefined":true})", "undefined"},
      {R"({"$oid":"5ea77f07fcb94966883f5d5e"})", "ObjectId('5ea77f07fcb94966883f5d5e')"},
      {R"({"$date":{"$numberLong":"5"}})", "new Date(5)"},
      {R"({"$timestamp":{"t":1,"i":2}})", "Timestamp(1, 2)"},
      {R"({"$regularExpression":{"pattern":"a","options":"i"}})", "/a/i"},
      {R"({"$binary":{"base64":"AQI=","subType":"04"}})", "BinData(4, 0102)"},
      {R"({"$code":"f();"})", "f();"},
      {R"({"$code":"f();","$scope":{"x":1}})", "CodeWScope( f();, { x: 1 })"},
      {R"({"$dbPointer":{"$ref":"c","$id":{"$oid":"5ea77f07fcb94966883f5d5e"}}})",
       "DBRef('c',5ea77f07fcb94966883f5d5e)"},
      {R"({"$minKey":1})", "MinKey"},
      {R"({"$maxKey":1})", "MaxKey"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ToDisplay(Json("{\"v\":" + std::string(c.json) + "}")["v"]), c.shown);
  }
  EXPECT_EQ(ToDisplay(Value()), "missing");
}

TEST(DisplayTest, IsBounded) {
  EXPECT_EQ(ToDisplay(Text("12345678"), 10), "\"12345678\"");
  EXPECT_EQ(ToDisplay(Text("123456789"), 10), "\"123456789...");
  EXPECT_EQ(ToDisplay(Text(std::string(1'000'000, 'x'))).size(), 203u);
  EXPECT_EQ(ToDisplay(Text("1234567\xC3\xA4\xC3\xA4"), 9), "\"1234567...") << "whole characters";
  base::Random random(1);
  for (int i = 0; i < 300; ++i) {
    const Document document = RandomDocument(random, 3);
    for (const size_t bytes_max : {0, 1, 7, 50}) {
      EXPECT_LE(ToDisplay(Value(Type::kObject, document.view().data()), bytes_max).size(),
                bytes_max + 3);
    }
  }
}

}  // namespace
}  // namespace evenkeel::bson
