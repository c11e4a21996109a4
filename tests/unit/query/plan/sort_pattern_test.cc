// Sort specifications, sort keys over arrays, and the comparison of documents.
#include "query/plan/sort_pattern.h"

#include "base/random.h"
#include "tests/unit/query/plan/plan_cases.h"

namespace evenkeel::query {
namespace {

SortPattern Pattern(std::string_view json) {
  absl::StatusOr<SortPattern> pattern = SortPattern::Parse(Json(json));
  EXPECT_TRUE(pattern.ok()) << json << pattern.status();
  return pattern.ok() ? *std::move(pattern) : SortPattern();
}

TEST(SortPattern, KeysOfDocuments) {
  struct KeyCase {
    std::string_view sort;
    std::string_view document;
    std::string_view key;
  };
  constexpr KeyCase kCases[] = {
      {R"({"a": 1})", R"({"a": 5})", R"({"0": 5})"},
      {R"({"a": 1})", R"({})", R"({"0": null})"},
      {R"({"a": 1})", R"({"a": [3, 1, 2]})", R"({"0": 1})"},
      {R"({"a": -1})", R"({"a": [3, 1, 2]})", R"({"0": 3})"},
      {R"({"a": 1})", R"({"a": []})", R"({"0": {"$undefined": true}})"},
      {R"({"a": 1})", R"({"a": [[0], 5]})", R"({"0": 5})"},
      {R"({"a.b": 1, "c": -1})", R"({"a": {"b": 2}, "c": 3})", R"({"0": 2, "1": 3})"},
      {R"({"a.b": 1})", R"({"a": [{"b": 2}, {"b": 1}]})", R"({"0": 1})"},
      {R"({"a.b": 1})", R"({"a": [{"b": 2}, 7]})", R"({"0": null})"},
      {R"({"a.b": 1})", R"({"a": 5})", R"({"0": null})"},
      {R"({"a.b": 1})", R"({"a": []})", R"({"0": null})"},
      {R"({"a.x": 1, "a.y": -1})",
       R"({"a": [{"x": 1, "y": 5}, {"x": 1, "y": 2}, {"x": 2, "y": 9}]})", R"({"0": 1, "1": 5})"},
      {R"({"a.1": 1})", R"({"a": [5, 4, 3]})", R"({"0": 4})"},
      {R"({"a": 1, "b": 1})", R"({"a": [2, 1], "b": [4, 3]})", R"({"0": 1, "1": 3})"},
  };
  for (const KeyCase& test : kCases) {
    EXPECT_EQ(bson::ToCanonicalJson(Pattern(test.sort).KeyOf(Json(test.document), nullptr)),
              bson::ToCanonicalJson(Json(test.key)))
        << test.sort << " of " << test.document;
  }
}

TEST(SortPattern, RefusesBadSpecifications) {
  struct ErrorCase {
    std::string_view sort;
    int code;
  };
  constexpr ErrorCase kCases[] = {
      {R"({"a": "asc"})", 15974},
      {R"({"a": null})", 15974},
      {R"({"a": 0})", 15975},
      {R"({"a": 2})", 15975},
      {R"({"a": 1.5})", 15975},
      {R"({"$a": 1})", 16410},
      {R"({"a.$b": 1})", 16410},
      {R"({"": 1})", 40352},
      {R"({"a.": 1})", 40353},
      {R"({"a..b": 1})", 15998},
      {R"({"a": {"$meta": "textScore"}})", 40218},
      {R"({"a": {"$meta": "nope"}})", 31138},
      {R"({"a": {"$meta": 1}})", 31138},
  };
  for (const ErrorCase& test : kCases) {
    EXPECT_EQ(static_cast<int>(CodeOf(SortPattern::Parse(Json(test.sort)).status())), test.code)
        << test.sort;
  }
  EXPECT_TRUE(Pattern("{}").empty());
  EXPECT_EQ(Pattern(R"({"a": {"$numberLong": "-1"}})").fields()[0].ascending, false);
}

std::string RandomValue(base::Random& random, int depth) {
  switch (random.Uniform(depth > 0 ? 6 : 4)) {
    case 0:
      return "null";
    case 1:
      return "\"s" + std::to_string(random.Uniform(3)) + "\"";
    case 4: {
      std::string array = "[";
      for (uint64_t i = random.Uniform(3); i > 0; --i)
        array += RandomValue(random, depth - 1) + (i > 1 ? ", " : "");
      return array + "]";
    }
    case 5:
      return "{\"x\": " + RandomValue(random, depth - 1) +
             ", \"y\": " + RandomValue(random, depth - 1) + "}";
    default:
      return std::to_string(random.Uniform(4));
  }
}

TEST(SortPattern, ComparingDocumentsIsComparingKeys) {
  base::Random random(11);
  const SortPattern pattern = Pattern(R"({"a.x": 1, "b": -1, "a.y": 1, "c": 1})");
  for (int round = 0; round < 3000; ++round) {
    const auto make = [&] {
      return Json("{\"a\": " + RandomValue(random, 2) + ", \"b\": " + RandomValue(random, 1) +
                  ", \"c\": " + RandomValue(random, 0) + "}");
    };
    const bson::Document a = make(), b = make();
    const int by_keys =
        pattern.CompareKeys(pattern.KeyOf(a, nullptr), pattern.KeyOf(b, nullptr), nullptr);
    const int directly = pattern.CompareDocuments(a, b, nullptr);
    ASSERT_EQ(by_keys < 0, directly < 0) << bson::ToJson(a) << " " << bson::ToJson(b);
    ASSERT_EQ(by_keys > 0, directly > 0) << bson::ToJson(a) << " " << bson::ToJson(b);
  }
}

}  // namespace
}  // namespace evenkeel::query
