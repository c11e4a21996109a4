// Filter as others use it: pinned values, equalities of upserts, positions, values of their own.
#include "query/match/filter.h"

#include <optional>

#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

// Compares without case; what a collation of strength 2 does to ASCII.
class NoCase final : public bson::StringComparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    return SortKey(a).compare(SortKey(b));
  }
  std::string SortKey(std::string_view text) const override {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  }
};

std::string Show(const std::optional<std::vector<bson::Value>>& values) {
  if (!values) return "none";
  std::string out;
  for (const bson::Value value : *values) out += bson::ToDisplay(value) + " ";
  return out;
}

TEST(Filter, PinsPathsToFiniteSets) {
  struct PinCase {
    std::string_view filter;
    std::string_view path;
    std::string_view pinned;
  };
  constexpr PinCase kCases[] = {
      {R"({"a": 1})", "a", "1 "},
      {R"({"a": 1})", "b", "none"},
      {R"({"a.b": "x"})", "a.b", "\"x\" "},
      {R"({"a": {"b": 1}})", "a.b", "none"},
      {R"({"a": {"$in": [3, 1, 1.0]}})", "a", "1 3 "},
      {R"({"a": {"$in": [1, null]}})", "a", "none"},
      {R"({"a": {"$in": []}})", "a", ""},
      {R"({"a": null})", "a", "none"},
      {R"({"a": [1]})", "a", "none"},
      {R"({"a": {"$gte": 1}})", "a", "none"},
      {R"({"a": {"$ne": 1}})", "a", "none"},
      {R"({"a": {"$not": {"$eq": 1}}})", "a", "none"},
      {R"({"$or": [{"a": 1}, {"a": 2}]})", "a", "none"},
      {R"({"$and": [{"b": 1}, {"$and": [{"a": {"$in": [1, 2]}}, {"a": 2}]}]})", "a", "2 "},
  };
  const QueryContext context;
  for (const PinCase& test : kCases) {
    const Filter filter = ParseOrDie(test.filter, context);
    EXPECT_EQ(Show(filter.PinnedValues(test.path)), test.pinned) << test.filter;
  }
}

TEST(Filter, ACollationUnpinsStrings) {
  const NoCase no_case;
  QueryContext context;
  context.collation = &no_case;
  EXPECT_EQ(Show(ParseOrDie(R"({"a": "x"})", context).PinnedValues("a")), "none");
  EXPECT_EQ(Show(ParseOrDie(R"({"a": 1})", context).PinnedValues("a")), "1 ");
  EXPECT_TRUE(ParseOrDie(R"({"a": "x"})", context).Matches(Json(R"({"a": "X"})")));
  EXPECT_TRUE(ParseOrDie(R"({"a": {"$in": ["b", "X"]}})", context).Matches(Json(R"({"a": "x"})")));
}

TEST(Filter, GivesTheEqualitiesOfAnUpsert) {
  const QueryContext context;
  const Filter filter = ParseOrDie(
      R"({"a": 1, "b.c": {"$eq": 2}, "$and": [{"d": {"$in": [3]}}, {"e": {"$gt": 1}}], "f": {"$ne": 4},
          "$or": [{"g": 5}], "h": {"$all": [6]}, "i": {"$in": [1, 2]}})",
      context);
  std::string shown;
  for (const bson::Element& element : filter.Equalities()) {
    shown += std::string(element.key) + "=" + bson::ToDisplay(element.value) + " ";
  }
  EXPECT_EQ(shown, "a=1 b.c=2 g=5 h=6 d=3 ");
}

TEST(Filter, FindsThePositionOfTheMatch) {
  struct PositionCase {
    std::string_view filter;
    std::string_view document;
    int64_t position;  // -1: none
  };
  constexpr PositionCase kCases[] = {
      {R"({"a": 5})", R"({"a": [4, 5]})", 1},
      {R"({"a": 5})", R"({"a": 5})", -1},
      {R"({"a": 5})", R"({"a": [4]})", -1},
      {R"({"a.b": 5})", R"({"a": [{"b": 1}, {"b": [0, 5]}]})", 1},
      {R"({"a": {"$elemMatch": {"b": 5}}})", R"({"a": [{"b": 1}, {"b": 2}, {"b": 5}]})", 2},
      {R"({"a": {"$ne": 5}})", R"({"a": [1]})", -1},
      {R"({"$or": [{"a": 9}, {"a": 1}]})", R"({"a": [0, 1]})", 1},
      {R"({"a": {"$gt": 1, "$lt": 5}})", R"({"a": [1, 2, 3]})", 1},
  };
  const QueryContext context;
  for (const PositionCase& test : kCases) {
    const Filter filter = ParseOrDie(test.filter, context);
    EXPECT_EQ(filter.MatchedPosition(Json(test.document)).value_or(-1), test.position)
        << test.filter;
  }
}

TEST(Filter, MatchesValuesOfTheirOwn) {
  const QueryContext context;
  const Filter filter = *Filter::ParseValue(Json(R"({"$gt": 3, "$lt": 9})"), context);
  EXPECT_TRUE(filter.MatchesValue(Json(R"({"v": 5})")["v"]));
  EXPECT_FALSE(filter.MatchesValue(Json(R"({"v": 9})")["v"]));
  const Filter named = ParseOrDie(R"({"x.a": 1, "x.b": 2})", context);
  EXPECT_EQ(named.CommonField(), "x");
  EXPECT_TRUE(named.MatchesValue(Json(R"({"v": {"b": 2, "a": 1}})")["v"]));
}

TEST(Filter, KnowsTheTrivialOne) {
  const QueryContext context;
  EXPECT_TRUE(Filter().IsTrivial());
  EXPECT_TRUE(Filter().Matches(Json("{}")));
  EXPECT_TRUE(ParseOrDie("{}", context).IsTrivial());
  EXPECT_FALSE(ParseOrDie(R"({"a": 1})", context).IsTrivial());
}

TEST(Filter, SurvivesMoves) {
  const QueryContext context;
  Filter first = ParseOrDie(R"({"a": "x"})", context);
  Filter second = std::move(first);
  first = ParseOrDie(R"({"b": 1})", context);
  EXPECT_TRUE(second.Matches(Json(R"({"a": "x"})")));
  EXPECT_EQ(bson::ToJson(second.source()), bson::ToJson(Json(R"({"a": "x"})")));
}

}  // namespace
}  // namespace evenkeel::query::match
