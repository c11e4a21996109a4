// Conversions between types.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Convert, Numbers) {
  const Case cases[] = {
      {R"({"$toInt": "-0042"})", "-42"},
      {R"({"$toInt": -1.9})", "-1"},
      {R"({"$toInt": {"$binary": {"base64": "gA==", "subType": "00"}}})", "-128"},
      {R"({"$toLong": {"$date": {"$numberLong": "5"}}})", R"({"$numberLong": "5"})"},
      {R"({"$toDouble": "+0x1.8p1"})", R"({"$numberDouble": "3.0"})"},
      {R"({"$toDouble": "-inf"})", R"({"$numberDouble": "-Infinity"})"},
      {R"({"$toDecimal": 2.5})", R"({"$numberDecimal": "2.50000000000000"})"},
      {R"({"$toDecimal": ".5"})", R"({"$numberDecimal": "0.5"})"},
      {R"({"$toInt": "$missing"})", "null"},
      {R"({"$convert": {"input": "-ff", "to": "int", "base": 16}})", "-255"},
      {R"({"$convert": {"input": 255, "to": "string", "base": 16}})", R"("FF")"},
  };
  CheckCases(cases);
}

TEST(Convert, OtherTypes) {
  const Case cases[] = {
      {R"({"$toBool": ""})", "true"},
      {R"({"$toBool": 0.0})", "false"},
      {R"({"$toString": 1e16})", R"("1e+16")"},
      {R"({"$toString": {"$date": {"$numberLong": "0"}}})", R"("1970-01-01T00:00:00.000Z")"},
      {R"({"$toString": {"$oid": "507f1f77bcf86cd799439011"}})", R"("507f1f77bcf86cd799439011")"},
      {R"({"$toString": {"$uuid": "12345678-1234-1234-1234-123456789012"}})",
       R"("12345678-1234-1234-1234-123456789012")"},
      {R"({"$toUUID": "12345678-1234-1234-1234-123456789012"})",
       R"({"$uuid": "12345678-1234-1234-1234-123456789012"})"},
      {R"({"$toObjectId": "507F1f77bcf86cd799439011"})", R"({"$oid": "507f1f77bcf86cd799439011"})"},
      {R"({"$toDate": 1000.9})", R"({"$date": {"$numberLong": "1000"}})"},
      {R"({"$toArray": "[1, 2]"})", "[1, 2]"},
  };
  CheckCases(cases);
}

TEST(Convert, Binary) {
  const Case cases[] = {
      {R"({"$convert": {"input": "a-b_cA", "to": "binData", "format": "base64url"}})",
       R"({"$binary": {"base64": "a+b/cA==", "subType": "00"}})"},
      {R"({"$convert": {"input": "68656C6c6F", "to": {"type": "binData", "subtype": 5},
                        "format": "hex"}})",
       R"({"$binary": {"base64": "aGVsbG8=", "subType": "05"}})"},
      {R"({"$convert": {"input": 42, "to": "binData", "byteOrder": "big"}})",
       R"({"$binary": {"base64": "AAAAKg==", "subType": "00"}})"},
      {R"({"$convert": {"input": {"$binary": {"base64": "aGVsbG8=", "subType": "00"}},
                        "to": "string", "format": "hex"}})",
       R"("68656C6C6F")"},
  };
  CheckCases(cases);
}

TEST(Convert, Fallbacks) {
  const Case cases[] = {
      {R"({"$convert": {"input": "x", "to": "int", "onError": "bad"}})", R"("bad")"},
      {R"({"$convert": {"input": null, "to": "int", "onNull": 7}})", "7"},
      {R"({"$convert": {"input": 1, "to": "$missing"}})", "null"},
      {R"({"$convert": {"input": "42", "to": {"type": 16}, "onError": {"$divide": [1, "$z"]}}})",
       "42", R"({"z": 0})"},
  };
  CheckCases(cases);
}

TEST(Convert, Errors) {
  const ErrorCase errors[] = {
      {R"({"$toInt": [1, 2]})", 50723},
      {R"({"$toInt": "2147483648"})", 241},
      {R"({"$toInt": " 1"})", 241},
      {R"({"$toInt": "+-1"})", 241},
      {R"({"$toInt": {"$oid": "507f1f77bcf86cd799439011"}})", 241},
      {R"({"$toDouble": "1e-400"})", 241},
      {R"({"$toDouble": "0x"})", 241},
      {R"({"$toDate": 1})", 241},
      {R"({"$convert": {"input": 1, "to": "integer"}})", 2},
      {R"({"$convert": {"input": 1, "to": 99}})", 9},
      {R"({"$convert": {"input": 1, "to": 0}})", 241},
      {R"({"$convert": {"input": 1, "to": {"type": "binData", "subtype": 10}}})", 4341107},
      {R"({"$convert": {"input": 1, "to": {"type": "binData", "subtype": 1.5}}})", 4341106},
      {R"({"$convert": {"input": 1, "to": {"type": "binData", "subtype": null}}})", 4341108},
      {R"({"$convert": {"input": "x", "to": "binData"}})", 4341115},
      {R"({"$convert": {"input": "x", "to": "binData", "format": "xml"}})", 4341125},
      {R"({"$convert": {"input": "x", "to": "binData", "format": 1}})", 4341114},
      {R"({"$convert": {"input": "aGVsbG8", "to": "binData", "format": "base64"}})", 241},
      {R"({"$convert": {"input": 1, "to": "binData", "byteOrder": "BIG"}})", 9130002},
      {R"({"$convert": {"input": {"$toDate": {"$numberLong": "253402300800000"}},
                        "to": "string", "onError": "x"}})",
       18537},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
