// $serializeEJSON, $deserializeEJSON.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

// The cases are written in canonical Extended JSON themselves, so wrappers are hidden in $literal
// and compared through their text.
std::string Serialized(std::string_view json, bool relaxed) {
  const std::string spec = R"({"$serializeEJSON": {"input": "$v", "relaxed": )" +
                           std::string(relaxed ? "true" : "false") + "}}";
  const auto got = EvaluateJson(spec, "{\"v\": " + std::string(json) + "}");
  EXPECT_TRUE(got.ok()) << json << got.status();
  return got.ok() ? bson::ToJson(*got) : "";
}

TEST(Ejson, SerializesAsTheTextDoes) {
  const std::string_view values[] = {
      R"(1)",
      R"({"$numberLong": "5"})",
      R"(1.5)",
      R"({"$numberDouble": "NaN"})",
      R"("a")",
      R"(null)",
      R"(true)",
      R"({"$numberDecimal": "1.50"})",
      R"({"$oid": "0123456789abcdef01234567"})",
      R"({"$date": {"$numberLong": "1609459200000"}})",
      R"({"$date": {"$numberLong": "-1"}})",
      R"({"$date": {"$numberLong": "1609459200123"}})",
      R"({"$binary": {"base64": "AQID", "subType": "05"}})",
      R"({"$regularExpression": {"pattern": "a", "options": "i"}})",
      R"({"$timestamp": {"t": 4294967295, "i": 2}})",
      R"({"$minKey": 1})",
      R"({"$maxKey": 1})",
      R"({"$undefined": true})",
      R"({"$symbol": "s"})",
      R"({"$code": "c"})",
      R"({"$code": "c", "$scope": {"x": 1}})",
      R"({"a": [1, {"b": 2.5}], "c": {}})",
  };
  for (const std::string_view value : values) {
    const bson::Document document = Wrap(value);
    EXPECT_EQ(Serialized(value, true), bson::ToJson(document)) << value;
    EXPECT_EQ(Serialized(value, false), bson::ToCanonicalJson(document)) << value;
  }
}

TEST(Ejson, ComesBack) {
  const Case cases[] = {
      {R"({"$deserializeEJSON": {"input": {"$serializeEJSON": {"input": "$v"}}}})",
       R"({"a": [1, 2.5, {"$numberLong": "3"}], "d": {"$date": {"$numberLong": "-5"}},
           "o": {"$oid": "0123456789abcdef01234567"}, "t": {"$timestamp": {"t": 1, "i": 2}}})",
       R"({"v": {"a": [1, 2.5, {"$numberLong": "3"}], "d": {"$date": {"$numberLong": "-5"}},
           "o": {"$oid": "0123456789abcdef01234567"}, "t": {"$timestamp": {"t": 1, "i": 2}}}})"},
      {R"({"$deserializeEJSON": {"input": "$none"}})", "null"},
      {R"({"$serializeEJSON": {"input": "$none"}})", "null"},
      {R"({"$deserializeEJSON": {"input": {"$setField": {"field": {"$literal": "$oid"}, "input": {},
                                                         "value": "xyz"}},
                                 "onError": "bad"}})",
       R"("bad")"},
  };
  CheckCases(cases);
}

TEST(Ejson, Errors) {
  const ErrorCase errors[] = {
      {R"({"$serializeEJSON": 1})", 9},
      {R"({"$serializeEJSON": {"relaxed": true}})", 9},
      {R"({"$serializeEJSON": {"input": 1, "relaxed": 1}})", 14},
      {R"({"$deserializeEJSON": {"input": {"$setField": {"field": {"$literal": "$oid"}, "input": {},
                                                         "value": "xyz"}}}})",
       241},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
