// Tests of the hash of values against what MongoDB's manual, forum and recorded replies show.
#include "base/bson/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/bson/compare.h"
#include "base/bson/json.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

int64_t HashOf(std::string_view json) {
  return HashValue(Json("{\"v\":" + std::string(json) + "}")["v"]);
}

TEST(HashTest, PublishedValues) {
  struct Case {
    const char* json;
    int64_t hash;
  };
  const Case cases[] = {
      {R"({"foo": "bar"})", 4975617422686807705},
      {R"("hello")", 5347277839332858538},
      {R"({"$date": "2013-02-12T22:12:57.211Z"})", -4185544074338741873},
      {R"({"$oid": "5ea77f07fcb94966883f5d5e"})", 329356589482501449},
      {R"({"$oid": "5ea77f0afcb94966883f5d5f"})", -3285311604932298140},
  };
  for (const Case& c : cases) EXPECT_EQ(HashOf(c.json), c.hash) << c.json;
}

TEST(HashTest, NumbersAreTruncated) {
  const int64_t two = HashOf("2");
  for (const char* json :
       {"2.1", "2.9", R"({"$numberLong":"2"})", R"({"$numberDecimal":"2.5"})", "2.0"}) {
    EXPECT_EQ(HashOf(json), two) << json;
  }
  EXPECT_NE(HashOf("3"), two);
  EXPECT_EQ(HashOf(R"({"$numberDouble":"NaN"})"), HashOf("0"));
  EXPECT_EQ(HashOf("-0.5"), HashOf("0"));
  EXPECT_EQ(HashOf("1e300"), HashOf(R"({"$numberLong":"9223372036854775807"})"));
  EXPECT_EQ(HashOf(R"({"$numberDecimal":"-Infinity"})"),
            HashOf(R"({"$numberLong":"-9223372036854775808"})"));
  EXPECT_EQ(HashOf(R"({"a":[1.7]})"), HashOf(R"({"a":[1]})")) << "nested too";
}

TEST(HashTest, MissingHashesAsNull) {
  EXPECT_EQ(HashValue(Value()), HashOf("null"));
  EXPECT_NE(HashValue(Value()), HashOf(R"({"$undefined":true})"));
}

TEST(HashTest, DifferentValuesHashDifferently) {
  const char* const jsons[] = {
      "null",
      "0",
      "1",
      "\"\"",
      "\"0\"",
      "{}",
      "[]",
      "[0]",
      R"({"0":0})",
      R"({"a":{}})",
      R"({"a":[]})",
      R"({"a":1,"b":2})",
      R"({"b":2,"a":1})",
      "true",
      "false",
      R"({"$minKey":1})",
      R"({"$maxKey":1})",
      R"({"$undefined":true})",
      R"({"$code":"f"})",
      R"({"$code":"f","$scope":{}})",
      R"({"$date":{"$numberLong":"0"}})",
      R"({"$timestamp":{"t":0,"i":0}})",
      R"({"$regularExpression":{"pattern":"a","options":""}})",
      R"({"$binary":{"base64":"","subType":"00"}})",
      R"({"$binary":{"base64":"","subType":"05"}})",
  };
  std::set<int64_t> hashes;
  for (const char* json : jsons) EXPECT_TRUE(hashes.insert(HashOf(json)).second) << json;
}

TEST(HashTest, EqualValuesHashAlike) {
  const std::vector<OwnedValue> values = TrickyValues();
  for (const OwnedValue& a : values) {
    for (const OwnedValue& b : values) {
      if (Compare(a, b) != 0 || a.value().IsNullish()) continue;
      EXPECT_EQ(HashValue(a), HashValue(b)) << ToDisplay(a) << " and " << ToDisplay(b);
    }
  }
}

}  // namespace
}  // namespace evenkeel::bson
