// Tests of the JSON reader: plain JSON and broken text. Wrappers: json_wrappers_test.cc.
#include <gtest/gtest.h>

#include <string>

#include "base/bson/json.h"
#include "base/bson/validate.h"
#include "base/status.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

TEST(JsonReaderTest, PlainNumbersGetTheNarrowestType) {
  struct Case {
    const char* number;
    Type type;
    const char* shown;
  };
  const Case cases[] = {
      {"1", Type::kInt32, "1"},
      {"-0", Type::kInt32, "0"},
      {"2147483647", Type::kInt32, "2147483647"},
      {"2147483648", Type::kInt64, "2147483648"},
      {"-2147483649", Type::kInt64, "-2147483649"},
      {"9223372036854775807", Type::kInt64, "9223372036854775807"},
      {"9223372036854775808", Type::kDouble, "9.223372036854776e+18"},
      {"1.0", Type::kDouble, "1.0"},
      {"1e2", Type::kDouble, "100.0"},
      {"1E-2", Type::kDouble, "0.01"},
      {"0.5e+1", Type::kDouble, "5.0"},
  };
  for (const Case& c : cases) {
    const Document document = Json("{\"a\":" + std::string(c.number) + "}");
    EXPECT_TRUE(document["a"].Is(c.type)) << c.number;
    EXPECT_EQ(ToDisplay(document["a"]), c.shown) << c.number;
  }
}

TEST(JsonReaderTest, Strings) {
  struct Case {
    const char* json;
    std::string text;
  };
  const Case cases[] = {
      {R"("")", ""},
      {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
      {R"("\u0041\u00e4\u20AC")", "A\xC3\xA4\xE2\x82\xAC"},
      {R"("\ud83d\ude00")", "\xF0\x9F\x98\x80"},
      {R"("x\u0000y")", std::string("x\0y", 3)},
      {"\"gr\xC3\xBC\"", "gr\xC3\xBC"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Json("{\"a\":" + std::string(c.json) + "}")["a"].AsString(), c.text) << c.json;
  }
}

TEST(JsonReaderTest, WhiteSpaceAndNesting) {
  const Document document =
      Json(" { \"a\" : [ 1 , { \"b\" : [ ] } ,\n\tnull ] , \"c\" : { } } \r\n");
  EXPECT_EQ(ToJson(document), R"({"a":[1,{"b":[]},null],"c":{}})");
  EXPECT_TRUE(Validate(document.bytes()).ok());
}

TEST(JsonReaderTest, QueryOperatorsStayDocuments) {
  for (const char* json :
       {R"({"a":{"$regex":"^a","$options":"i"}})", R"({"a":{"$type":"string"}})",
        R"({"$expr":{"$eq":["$a",1]}})", R"({"a":{"$ref":"c","$id":1,"$db":"d"}})",
        R"({"a":{"b":1,"$oid":"x"}})"}) {
    EXPECT_EQ(ToJson(Json(json)), json);
  }
}

TEST(JsonReaderTest, RefusesBrokenText) {
  const char* const jsons[] = {
      "",
      "{",
      "}",
      "[]",
      "1",
      "nope",
      "\"x\"",
      "{a:1}",
      "{'a':1}",
      "{\"a\"}",
      "{\"a\" 1}",
      "{\"a\":}",
      "{\"a\":1",
      "{\"a\":1}}",
      "{\"a\":1,}",
      "{,}",
      "{\"a\":[1}",
      "{\"a\":[1,]}",
      "{\"a\":[",
      "{\"a\":01}",
      "{\"a\":+1}",
      "{\"a\":.5}",
      "{\"a\":1.}",
      "{\"a\":1e}",
      "{\"a\":-}",
      "{\"a\":1e999}",
      "{\"a\":NaN}",
      "{\"a\":tru}",
      "{\"a\":\"x",
      "{\"a\":\"\\",
      "{\"a\":\"\\x\"}",
      "{\"a\":\"\\u12\"}",
      "{\"a\":\"\\u12G4\"}",
      "{\"a\":\"\\ud83d\"}",
      "{\"a\":\"\\ude00\"}",
      "{\"a\":\"\\ud83d\\u0041\"}",
      "{\"a\":\"\n\"}",
      "{\"a\\u0000b\":1}",
      "{\"a\":1} x",
      "{\"a\":true false}",
  };
  for (const char* json : jsons) {
    EXPECT_EQ(CodeOf(FromJson(json).status()), ErrorCode::kFailedToParse) << json;
  }
}

TEST(JsonReaderTest, NamesTheOffset) {
  EXPECT_EQ(MessageOf(FromJson("{\"a\": nope}").status()), "invalid JSON at offset 6: not a value");
}

TEST(JsonReaderTest, BoundsTheNesting) {
  const auto nested = [](int levels) {
    std::string text = "{\"a\":";
    for (int i = 1; i < levels; ++i) text.push_back('[');
    for (int i = 1; i < levels; ++i) text.push_back(']');
    return text.append("}");
  };
  const absl::StatusOr<Document> deepest = FromJson(nested(limits::kCommandDepthMax));
  ASSERT_TRUE(deepest.ok());
  EXPECT_TRUE(Validate(deepest->bytes()).ok());
  EXPECT_FALSE(FromJson(nested(limits::kCommandDepthMax + 1)).ok());
  EXPECT_FALSE(FromJson("{\"a\":" + std::string(1'000'000, '[')).ok());
}

TEST(JsonReaderTest, RandomDocumentsSurvive) {
  base::Random random(9);
  for (int i = 0; i < 300; ++i) {
    const std::string json = ToCanonicalJson(RandomDocument(random, 3));
    EXPECT_EQ(ToCanonicalJson(Json(json)), json);
  }
}

TEST(JsonReaderTest, CutAndChangedTextNeverCrashes) {
  const std::string json = ToCanonicalJson(EveryType());
  for (size_t size = 0; size < json.size(); ++size)
    EXPECT_FALSE(FromJson(json.substr(0, size)).ok());
  base::Random random(10);
  for (int i = 0; i < 5000; ++i) {
    std::string mutant = json;
    mutant[random.Uniform(mutant.size())] = static_cast<char>(random.Next64());
    const absl::StatusOr<Document> parsed = FromJson(mutant);
    if (parsed.ok()) {
      EXPECT_TRUE(Validate(parsed->bytes()).ok());
    }
  }
}

}  // namespace
}  // namespace evenkeel::bson
