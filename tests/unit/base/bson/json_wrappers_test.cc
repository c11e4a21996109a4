// Tests of the wrapper objects of Extended JSON: other accepted forms and malformed ones. Round
// trips: json_test.cc.
#include "base/bson/json_wrappers.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bson/json.h"
#include "base/status.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

TEST(JsonWrappersTest, OtherForms) {
  struct Case {
    const char* json;
    const char* canonical;
  };
  const Case cases[] = {
      {R"({"$date":5})", R"({"$date":{"$numberLong":"5"}})"},
      {R"({"$date":{"$numberInt":"5"}})", R"({"$date":{"$numberLong":"5"}})"},
      {R"({"$date":"1970-01-01T00:00:01.5Z"})", R"({"$date":{"$numberLong":"1500"}})"},
      {R"({"$date":"1970-01-01T01:00:00+01:00"})", R"({"$date":{"$numberLong":"0"}})"},
      {R"({"$date":"1969-12-31T23:59:59.999Z"})", R"({"$date":{"$numberLong":"-1"}})"},
      {R"({"$binary":"AQ==","$type":"80"})", R"({"$binary":{"base64":"AQ==","subType":"80"}})"},
      {R"({"$binary":{"subType":"0","base64":""}})", R"({"$binary":{"base64":"","subType":"00"}})"},
      {R"({"$uuid":"00112233-4455-6677-8899-aabbccddeeff"})",
       R"({"$binary":{"base64":"ABEiM0RVZneImaq7zN3u/w==","subType":"04"}})"},
      {R"({"$scope":{},"$code":"f"})", R"({"$code":"f","$scope":{}})"},
      {R"({"$timestamp":{"i":1,"t":2}})", R"({"$timestamp":{"t":2,"i":1}})"},
      {R"({"$regularExpression":{"options":"","pattern":"a"}})",
       R"({"$regularExpression":{"pattern":"a","options":""}})"},
      {R"({"$oid":"5EA77F07FCB94966883F5D5E"})", R"({"$oid":"5ea77f07fcb94966883f5d5e"})"},
      {R"({"$numberDouble":"5"})", R"({"$numberDouble":"5.0"})"},
  };
  for (const Case& c : cases) {
    const std::string expected = "{\"a\":" + std::string(c.canonical) + "}";
    EXPECT_EQ(ToCanonicalJson(Json("{\"a\":" + std::string(c.json) + "}")), expected) << c.json;
  }
}

TEST(JsonWrappersTest, RefusesMalformedOnes) {
  const char* const jsons[] = {
      R"({"$oid":"5ea7"})",
      R"({"$oid":"5ea77f07fcb94966883f5d5g"})",
      R"({"$oid":"5ea77f07fcb94966883f5d5e","x":1})",
      R"({"$oid":1})",
      R"({"$numberInt":"2147483648"})",
      R"({"$numberInt":1})",
      R"({"$numberInt":"1.5"})",
      R"({"$numberInt":""})",
      R"({"$numberLong":"9223372036854775808"})",
      R"({"$numberDouble":"x"})",
      R"({"$numberDouble":"inf"})",
      R"({"$numberDouble":"1e999"})",
      R"({"$numberDecimal":"1.5x"})",
      R"({"$date":"yesterday"})",
      R"({"$date":"infinite-future"})",
      R"({"$date":1.5})",
      R"({"$timestamp":{"t":1}})",
      R"({"$timestamp":{"t":-1,"i":1}})",
      R"({"$timestamp":{"t":1,"i":4294967296}})",
      R"({"$timestamp":5})",
      R"({"$binary":{"base64":"!","subType":"00"}})",
      R"({"$binary":{"base64":"","subType":"100"}})",
      R"({"$binary":{"base64":""}})",
      R"({"$binary":"AQ=="})",
      R"({"$uuid":"00112233-4455-6677-8899-aabbccddeef"})",
      R"({"$uuid":"0011223344556677-8899-aabbccddeeff-0"})",
      R"({"$symbol":1})",
      R"({"$code":1})",
      R"({"$scope":{}})",
      R"({"$code":"f","$scope":1})",
      R"({"$code":"f","x":1})",
      R"({"$regularExpression":{"pattern":"a"}})",
      R"({"$regularExpression":{"pattern":"a\u0000","options":""}})",
      R"({"$dbPointer":{"$ref":"c","$id":1}})",
      R"({"$minKey":1,"x":1})",
  };
  for (const char* json : jsons) {
    const absl::StatusOr<Document> parsed = FromJson("{\"a\":" + std::string(json) + "}");
    EXPECT_EQ(CodeOf(parsed.status()), ErrorCode::kFailedToParse) << json;
  }
}

TEST(JsonWrappersTest, OutermostWrapperIsNoDocument) {
  EXPECT_FALSE(FromJson(R"({"$oid":"5ea77f07fcb94966883f5d5e"})").ok());
  EXPECT_FALSE(FromJson(R"({"$minKey":1})").ok());
}

TEST(JsonWrappersTest, OrdinaryDocumentsAreLeftAlone) {
  OwnedValue value;
  EXPECT_EQ(UnwrapJson(View(), &value), JsonWrapper::kNone);
  EXPECT_EQ(UnwrapJson(Builder().Append("a", 1).Finish(), &value), JsonWrapper::kNone);
  EXPECT_EQ(UnwrapJson(Builder().Append("$gt", 1).Finish(), &value), JsonWrapper::kNone);
  EXPECT_EQ(UnwrapJson(Builder().Append("$oid", 1).Finish(), &value), JsonWrapper::kMalformed);
  EXPECT_EQ(UnwrapJson(Builder().Append("$numberInt", "7").Finish(), &value), JsonWrapper::kValue);
  EXPECT_EQ(value.value().AsInt32(), 7);
}

}  // namespace
}  // namespace evenkeel::bson
