// Tests of Extended JSON in both forms: text to document to text.
#include "base/bson/json.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

struct Case {
  const char* what;
  const char* canonical;
  const char* relaxed;  // null: the same
};

constexpr Case kCases[] = {
    {"empty", R"({})", nullptr},
    {"int32", R"({"a":{"$numberInt":"-5"}})", R"({"a":-5})"},
    {"int64", R"({"a":{"$numberLong":"9223372036854775807"}})", R"({"a":9223372036854775807})"},
    {"double", R"({"a":{"$numberDouble":"1.5"}})", R"({"a":1.5})"},
    {"whole double", R"({"a":{"$numberDouble":"1.0"}})", R"({"a":1.0})"},
    {"negative zero", R"({"a":{"$numberDouble":"-0.0"}})", R"({"a":-0.0})"},
    {"large double", R"({"a":{"$numberDouble":"1e+300"}})", R"({"a":1e+300})"},
    {"NaN", R"({"a":{"$numberDouble":"NaN"}})", R"({"a":{"$numberDouble":"NaN"}})"},
    {"infinity", R"({"a":{"$numberDouble":"-Infinity"}})",
     R"({"a":{"$numberDouble":"-Infinity"}})"},
    {"decimal", R"({"a":{"$numberDecimal":"1.50E+10"}})", nullptr},
    {"string", R"({"a":"x\"\\\n\u0001ä"})", nullptr},
    {"zero in a string", R"({"a":"x\u0000y"})", nullptr},
    {"bool and null", R"({"a":true,"b":false,"c":null})", nullptr},
    {"nested", R"({"a":{"b":[{"$numberInt":"1"},[],{}]}})", R"({"a":{"b":[1,[],{}]}})"},
    {"id", R"({"a":{"$oid":"5ea77f07fcb94966883f5d5e"}})", nullptr},
    {"date", R"({"a":{"$date":{"$numberLong":"1360707177211"}}})",
     R"({"a":{"$date":"2013-02-12T22:12:57.211Z"}})"},
    {"whole second", R"({"a":{"$date":{"$numberLong":"1000"}}})",
     R"({"a":{"$date":"1970-01-01T00:00:01Z"}})"},
    {"early date", R"({"a":{"$date":{"$numberLong":"-1"}}})",
     R"({"a":{"$date":{"$numberLong":"-1"}}})"},
    {"late date", R"({"a":{"$date":{"$numberLong":"253402300800000"}}})",
     R"({"a":{"$date":{"$numberLong":"253402300800000"}}})"},
    {"last relaxed date", R"({"a":{"$date":{"$numberLong":"253402300799999"}}})",
     R"({"a":{"$date":"9999-12-31T23:59:59.999Z"}})"},
    {"timestamp", R"({"a":{"$timestamp":{"t":5,"i":4294967295}}})", nullptr},
    {"binary", R"({"a":{"$binary":{"base64":"AQID","subType":"80"}}})", nullptr},
    {"old binary", R"({"a":{"$binary":{"base64":"//8=","subType":"02"}}})", nullptr},
    {"regex", R"({"a":{"$regularExpression":{"pattern":"^a/\"","options":"im"}}})", nullptr},
    {"code", R"({"a":{"$code":"f();"}})", nullptr},
    {"code with scope", R"({"a":{"$code":"f();","$scope":{"x":{"$numberInt":"1"}}}})",
     R"({"a":{"$code":"f();","$scope":{"x":1}}})"},
    {"symbol", R"({"a":{"$symbol":"s"}})", nullptr},
    {"pointer", R"({"a":{"$dbPointer":{"$ref":"c","$id":{"$oid":"5ea77f07fcb94966883f5d5e"}}}})",
     nullptr},
    {"the rest", R"({"a":{"$minKey":1},"b":{"$maxKey":1},"c":{"$undefined":true}})", nullptr},
    {"reference", R"({"a":{"$ref":"c","$id":{"$numberInt":"1"}}})",
     R"({"a":{"$ref":"c","$id":1}})"},
    {"operators", R"({"$gt":{"$numberInt":"1"},"$and":[]})", R"({"$gt":1,"$and":[]})"},
    {"empty name", R"({"":{"$numberInt":"1"}})", R"({"":1})"},
    {"same name twice", R"({"a":{"$numberInt":"1"},"a":{"$numberInt":"2"}})", R"({"a":1,"a":2})"},
};

TEST(JsonTest, CanonicalRoundTrips) {
  for (const Case& c : kCases) EXPECT_EQ(ToCanonicalJson(Json(c.canonical)), c.canonical) << c.what;
}

TEST(JsonTest, Relaxed) {
  for (const Case& c : kCases) {
    const std::string expected = c.relaxed == nullptr ? c.canonical : c.relaxed;
    EXPECT_EQ(ToJson(Json(c.canonical)), expected) << c.what;
    EXPECT_EQ(ToJson(Json(expected)), expected) << c.what;
  }
}

TEST(JsonTest, BytesSurviveCanonicalJson) {
  const Document document = EveryType();
  EXPECT_EQ(Json(ToCanonicalJson(document)).bytes(), document.bytes());
}

TEST(JsonTest, BytesThatAreNoUtf8AreReplaced) {
  Builder b;
  b.Append("a", std::string_view("x\xFFy\xC3"));
  EXPECT_EQ(ToJson(b.Finish()), "{\"a\":\"x\xEF\xBF\xBDy\xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace evenkeel::bson
