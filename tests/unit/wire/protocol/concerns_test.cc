// Tests of read concern, write concern, read preference and maxTimeMS. Values and codes as MongoDB
// answers them.
#include "wire/protocol/concerns.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/status.h"
#include "tests/unit/wire/protocol/bytes.h"

namespace evenkeel::wire {
namespace {

struct Case {
  const char* value;
  int code;
};

// Runs `parse` on each value; the document must live while the result is looked at.
template <typename Parse>
void ExpectCodes(const std::vector<Case>& cases, Parse parse) {
  for (const Case& test : cases) {
    const bson::Document document = Json(std::string(R"({"v": )") + test.value + "}");
    EXPECT_EQ(static_cast<int>(CodeOf(parse(document["v"]))), test.code) << test.value;
  }
}

TEST(ParseMaxTime, Values) {
  ExpectCodes(
      {
          {"0", 0},
          {"null", 0},
          {"2147483647", 0},
          {R"({"$numberLong": "1000"})", 0},
          {R"({"$numberDouble": "1000.0"})", 0},
          {R"({"$numberDouble": "-0.0"})", 0},
          {R"({"$numberDecimal": "1000.0"})", 0},
          {R"({"$numberDecimal": "-0E+10"})", 0},
          {"-1", 2},
          {R"({"$numberDecimal": "-1"})", 2},
          {R"({"$numberLong": "2147483648"})", 2},
          {R"({"$numberDouble": "2147483648.0"})", 2},
          {R"({"$numberDouble": "0.5"})", 9},
          {R"({"$numberDecimal": "2.5"})", 9},
          {R"({"$numberDecimal": "9999999999999999999999"})", 9},
          {R"({"$numberDouble": "NaN"})", 9},
          {R"({"$numberDecimal": "NaN"})", 9},
          {R"({"$numberDouble": "Infinity"})", 9},
          {R"({"$numberDecimal": "-Infinity"})", 9},
          {R"("1000")", 14},
          {"true", 14},
          {"[]", 14},
          {"{}", 14},
          {R"({"$timestamp": {"t": 1, "i": 1}})", 14},
      },
      [](bson::Value value) {
        std::optional<absl::Duration> out;
        return ParseMaxTime(value, out);
      });
}

TEST(ParseMaxTime, ZeroMeansNone) {
  std::optional<absl::Duration> out;
  const bson::Document document = Json(R"({"zero": 0, "some": 5})");
  ASSERT_TRUE(ParseMaxTime(document["zero"], out).ok());
  EXPECT_FALSE(out.has_value());
  ASSERT_TRUE(ParseMaxTime(document["some"], out).ok());
  EXPECT_EQ(out, absl::Milliseconds(5));
}

TEST(ParseReadConcern, Values) {
  ExpectCodes(
      {
          {"null", 0},
          {"{}", 0},
          {R"({"level": "local"})", 0},
          {R"({"level": "linearizable"})", 0},
          {R"({"level": null})", 0},
          {R"({"provenance": "implicitDefault"})", 0},
          {R"({"provenance": null})", 0},
          {R"({"level": "snapshot", "atClusterTime": {"$timestamp": {"t": 1, "i": 1}}})", 0},
          {R"({"afterClusterTime": {"$timestamp": {"t": 1, "i": 1}}})", 0},
          {R"("local")", 14},
          {"[{}]", 14},
          {R"({"level": 1})", 14},
          {R"({"provenance": 1})", 14},
          {R"({"afterClusterTime": 1})", 14},
          {R"({"afterClusterTime": null})", 14},
          {R"({"atClusterTime": null})", 14},
          {R"({"level": ""})", 2},
          {R"({"level": "LOCAL"})", 2},
          {R"({"level": "local\u0000extra"})", 2},
          {R"({"provenance": "invalid"})", 2},
          {R"({"Level": "local"})", 40415},
          {R"({"level": "local", "unknownField": 1})", 40415},
          {R"({"afterClusterTime": {"$timestamp": {"t": 0, "i": 0}}})", 72},
          {R"({"level": "available", "afterClusterTime": {"$timestamp": {"t": 1, "i": 1}}})", 72},
          {R"({"atClusterTime": {"$timestamp": {"t": 1, "i": 1}}})", 72},
          {R"({"level": "snapshot", "atClusterTime": {"$timestamp": {"t": 0, "i": 0}}})", 72},
          {R"({"level": "snapshot", "atClusterTime": {"$timestamp": {"t": 1, "i": 1}},
               "afterClusterTime": {"$timestamp": {"t": 1, "i": 1}}})",
           72},
      },
      [](bson::Value value) {
        ReadConcern out;
        return ParseReadConcern(value, out);
      });
}

TEST(ParseWriteConcern, Values) {
  ExpectCodes(
      {
          {"null", 0},
          {"{}", 0},
          {R"({"w": 1})", 0},
          {R"({"w": 50})", 0},
          {R"({"w": "majority"})", 0},
          {R"({"w": {"$numberDouble": "1.999"}})", 0},
          {R"({"w": {"$numberDouble": "-0.99"}})", 0},
          {R"({"w": {"$numberDecimal": "1.4"}})", 0},
          {R"({"w": {"$numberDecimal": "0.9"}})", 0},
          {R"({"w": {"dc1": 2}})", 0},
          {R"({"w": 1, "j": {"$numberDouble": "NaN"}})", 0},
          {R"({"j": null})", 0},
          {R"({"j": true, "wtimeout": 1000})", 0},
          {R"({"w": -1})", 9},
          {R"({"w": 51})", 9},
          {R"({"w": {"$numberLong": "-9223372036854775808"}})", 9},
          {R"({"w": {"$numberDouble": "NaN"}})", 9},
          {R"({"w": {"$numberDouble": "Infinity"}})", 9},
          {R"({"w": {"$numberDecimal": "NaN"}})", 9},
          {R"({"w": {"$numberDecimal": "-Infinity"}})", 9},
          {R"({"w": {"$numberDecimal": "-0.51"}})", 9},
          {R"({"w": {"$numberDecimal": "51.4"}})", 9},
          {R"({"w": true})", 9},
          {R"({"w": [1]})", 9},
          {R"({"w": {}})", 9},
          {R"({"w": {"dc1": "x"}})", 9},
          {R"({"w": {"dc1": null}})", 9},
          {R"({"wtimeout": {"$numberLong": "2147483648"}})", 9},
          {R"({"wtimeout": {"$numberDouble": "Infinity"}})", 9},
          {R"({"wtimeout": {"$numberDecimal": "2147483648"}})", 9},
          {R"("majority")", 14},
          {"[1]", 14},
          {R"({"j": "true"})", 14},
          {R"({"j": [true]})", 14},
          {R"({"j": {}})", 14},
          {R"({"w": 1, "provenance": 42})", 14},
          {R"({"w": 1, "provenance": "invalid"})", 2},
          {R"({"W": 1})", 40415},
          {R"({"w": 1, "unknownField": 1})", 40415},
      },
      [](bson::Value value) {
        WriteConcern out;
        return ParseWriteConcern(value, out);
      });
}

TEST(ParseWriteConcern, Unacknowledged) {
  const struct {
    const char* value;
    bool acknowledged;
  } cases[] = {{R"({"w": 0})", false},
               {R"({"w": {"$numberDouble": "0.999"}})", false},
               {R"({"w": 1})", true},
               {R"({})", true},
               {R"({"w": "majority"})", true}};
  for (const auto& test : cases) {
    const bson::Document document = Json(std::string(R"({"v": )") + test.value + "}");
    WriteConcern out;
    ASSERT_TRUE(ParseWriteConcern(document["v"], out).ok());
    EXPECT_EQ(out.acknowledged, test.acknowledged) << test.value;
  }
}

TEST(ParseReadPreference, Values) {
  ExpectCodes(
      {
          {R"({"mode": "primary"})", 0},
          {R"({"mode": "nearest", "tags": [{"dc": "x"}, {}], "maxStalenessSeconds": 90})", 0},
          {R"({"mode": "nearest", "hedge": {"enabled": true}})", 0},
          {R"({"mode": "primary", "tags": [{}]})", 0},
          {R"({"mode": "primary", "maxStalenessSeconds": 0})", 0},
          {"1", 14},
          {R"({"mode": 1})", 14},
          {R"({"mode": "nearest", "tags": {}})", 14},
          {R"({"mode": "nearest", "tags": [1]})", 14},
          {R"({"mode": "nearest", "hedge": 1})", 14},
          {R"({"mode": "nearest", "maxStalenessSeconds": "x"})", 14},
          {"{}", 40414},
          {R"({"mode": "nowhere"})", 2},
          {R"({"mode": "primary", "tags": [{"dc": "x"}]})", 2},
          {R"({"mode": "primary", "maxStalenessSeconds": 100})", 2},
          {R"({"mode": "nearest", "maxStalenessSeconds": -1})", 2},
          {R"({"mode": "nearest", "maxStalenessSeconds": 1})", 160},
          {R"({"mode": "nearest", "x": 1})", 40415},
      },
      [](bson::Value value) {
        bson::View out;
        return ParseReadPreference(value, out);
      });
}

}  // namespace
}  // namespace evenkeel::wire
