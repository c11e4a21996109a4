// Intervals from filters: by cases, and by the property that they cover every document that
// matches.
#include "query/plan/bounds.h"

#include "base/bson/number.h"
#include "base/random.h"
#include "query/match/node.h"
#include "tests/unit/query/plan/plan_cases.h"

namespace evenkeel::query {
namespace {

TEST(Bounds, OfOnePath) {
  struct BoundsCase {
    std::string_view filter;
    std::string_view intervals;
    bool exact = true;
    bool may_be_array = false;
  };
  constexpr BoundsCase kCases[] = {
      {R"({"a": 1})", "[1,1]"},
      {R"({"b": 1})", "[*,*]", false},
      {R"({"a": null})", "[null,null]", false},
      {R"({"a": {"$gt": 1}})", "(1,Infinity]"},
      {R"({"a": {"$lte": 1}})", "[-Infinity,1]"},
      {R"({"a": {"$gte": 1, "$lt": 5}})", "[1,5)"},
      {R"({"a": {"$gt": 5, "$lt": 1}})", ""},
      {R"({"a": {"$gte": 1, "$lt": 5}})", "[-Infinity,5)", true, true},
      {R"({"a": {"$gte": 1}, "$and": [{"a": 7}]})", "[7,7]", true, true},
      {R"({"a": {"$gt": "x"}})", "(\"x\",{})"},
      {R"({"a": {"$lt": true}})", "[false,true)"},
      {R"({"a": {"$gt": null}})", ""},
      {R"({"a": {"$lt": {"$numberDouble": "NaN"}}})", ""},
      {R"({"a": {"$gt": {"$minKey": 1}}})", "[*,*]", false},
      {R"({"a": {"$in": [3, 1, 2]}})", "[1,1] [2,2] [3,3]"},
      {R"({"a": {"$in": []}})", ""},
      {R"({"a": {"$in": [1, null]}})", "[null,null] [1,1]", false},
      {R"({"a": [7, 8]})", "[7,7] [[ 7, 8 ],[ 7, 8 ]]", false},
      {R"({"a": {"$ne": 1}})", "[*,*]", false},
      {R"({"a": {"$exists": true}})", "[*,*]", false},
      {R"({"$or": [{"a": 1}, {"a": {"$gt": 5}}]})", "[1,1] (5,Infinity]"},
      {R"({"$or": [{"a": {"$lt": 3}}, {"a": {"$gte": 2}}]})", "[-Infinity,Infinity]"},
      {R"({"$or": [{"a": 1}, {"b": 1}]})", "[*,*]", false},
      {R"({"$or": [{"a": 1, "b": 2}, {"a": 3}]})", "[1,1] [3,3]", false},
      {R"({"a": {"$regex": "^ab"}})", "[\"ab\",\"ac\") [/^ab/,/^ab/]", false},
  };
  const QueryContext context;
  for (const BoundsCase& test : kCases) {
    const Filter filter = ParseFilter(test.filter, context);
    const PathBounds bounds = BoundsOf(filter, "a", test.may_be_array);
    EXPECT_EQ(Show(bounds.intervals), test.intervals) << test.filter;
    EXPECT_EQ(bounds.exact, test.exact) << test.filter;
  }
}

constexpr std::string_view kScalars[] = {
    "null",
    "{\"$undefined\": true}",
    "0",
    "1",
    "2.5",
    "3",
    "{\"$numberLong\": \"4\"}",
    "{\"$numberDecimal\": \"5\"}",
    "{\"$numberDouble\": \"NaN\"}",
    "{\"$numberDouble\": \"-Infinity\"}",
    "\"\"",
    "\"a\"",
    "\"ab\"",
    "\"b\"",
    "{}",
    "{\"x\": 1}",
    "{\"x\": 2}",
    "true",
    "false",
    "{\"$date\": {\"$numberLong\": \"5\"}}",
    "{\"$oid\": \"000000000000000000000007\"}",
    "{\"$minKey\": 1}",
    "{\"$maxKey\": 1}",
    "{\"$timestamp\": {\"t\": 1, \"i\": 1}}",
    "{\"$binary\": {\"base64\": \"AQ==\", \"subType\": \"00\"}}",
    "{\"$regularExpression\": {\"pattern\": \"^a\", \"options\": \"\"}}",
    "{\"$symbol\": \"ab\"}"};

std::string RandomScalar(base::Random& random) {
  return std::string(kScalars[random.Uniform(std::size(kScalars))]);
}

std::string RandomCondition(base::Random& random) {
  static constexpr std::string_view kOperators[] = {"$eq", "$lt", "$lte", "$gt", "$gte", "$ne"};
  switch (random.Uniform(9)) {
    case 0:
      return R"({"$in": [)" + RandomScalar(random) + ", " + RandomScalar(random) + "]}";
    case 1:
      return R"({"$exists": )" + std::string(random.Uniform(2) ? "true}" : "false}");
    case 2:
      return R"({"$regex": "^a"})";
    case 3:
      return R"({"$eq": [)" + RandomScalar(random) + ", " + RandomScalar(random) + "]}";
    default:
      return "{\"" + std::string(kOperators[random.Uniform(std::size(kOperators))]) +
             "\": " + RandomScalar(random) + "}";
  }
}

std::string RandomFilter(base::Random& random, int depth) {
  if (depth == 0 || random.Uniform(3) != 0) return "{\"a\": " + RandomCondition(random) + "}";
  static constexpr std::string_view kLogical[] = {"$and", "$or", "$nor"};
  return "{\"" + std::string(kLogical[random.Uniform(3)]) + "\": [" +
         RandomFilter(random, depth - 1) + ", " + RandomFilter(random, depth - 1) + "]}";
}

// The values under which an index holds a document.
std::vector<bson::OwnedValue> KeysOf(const bson::Document& document) {
  const bson::Value value = document["a"];
  if (value.missing()) return {bson::OwnedValue(NullValue())};
  if (!value.Is(bson::Type::kArray)) return {bson::OwnedValue(value)};
  std::vector<bson::OwnedValue> keys;
  for (const bson::Element& element : value.AsDocument()) keys.emplace_back(element.value);
  if (keys.empty()) keys.emplace_back(bson::Type::kUndefined, "");
  return keys;
}

bool Covers(const IntervalList& intervals, const bson::Document& document) {
  for (const bson::OwnedValue& key : KeysOf(document)) {
    for (const Interval& interval : intervals) {
      if (interval.Contains(key)) return true;
    }
  }
  return false;
}

void CheckCoverage(bool arrays, uint64_t seed) {
  base::Random random(seed);
  const QueryContext context;
  std::vector<bson::Document> documents = {Json("{}")};
  for (const std::string_view scalar : kScalars)
    documents.push_back(Json("{\"a\": " + std::string(scalar) + "}"));
  for (int i = 0; arrays && i < 60; ++i) {
    std::string array;
    for (uint64_t n = random.Uniform(4); n > 0; --n)
      array += RandomScalar(random) + (n > 1 ? ", " : "");
    documents.push_back(Json("{\"a\": [" + array + "]}"));
  }
  int narrowed = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string text = RandomFilter(random, 2);
    const absl::StatusOr<Filter> filter = Filter::Parse(Json(text), context);
    if (!filter.ok()) continue;  // comparisons with undefined or patterns
    const PathBounds bounds = BoundsOf(*filter, "a", arrays);
    narrowed += !bounds.IsUnbounded();
    const bool decides = bounds.exact && bounds.conjuncts == CountConjuncts(filter->root());
    for (const bson::Document& document : documents) {
      const bool matches = filter->Matches(document);
      const bool covered = Covers(bounds.intervals, document);
      ASSERT_TRUE(covered || !matches)
          << text << " " << bson::ToJson(document) << " " << Show(bounds.intervals);
      ASSERT_TRUE(!decides || covered == matches)
          << text << " " << bson::ToJson(document) << " " << Show(bounds.intervals);
      ASSERT_TRUE(!matches || !bounds.needs_value || document.view().Contains("a")) << text;
    }
  }
  EXPECT_GT(narrowed, 500);
}

TEST(Bounds, CoverWhatMatchesAmongScalars) { CheckCoverage(false, 1); }
TEST(Bounds, CoverWhatMatchesAmongArrays) { CheckCoverage(true, 2); }

// Lists over small integers against sets of half steps.
TEST(Bounds, ListsAreSets) {
  base::Random random(5);
  const auto value = [](int64_t i) {
    return bson::Number::Int32(static_cast<int32_t>(i)).ToValue();
  };
  const auto make = [&] {
    IntervalList list;
    for (uint64_t n = random.Uniform(4); n > 0; --n) {
      const int64_t low = static_cast<int64_t>(random.Uniform(10));
      Interval interval{value(low), value(low + static_cast<int64_t>(random.Uniform(4))),
                        random.Uniform(2) == 0, random.Uniform(2) == 0};
      if (random.Uniform(10) == 0) interval.low = {};
      if (random.Uniform(10) == 0) interval.high = {};
      list = Union(std::move(list), {std::move(interval)});
    }
    return list;
  };
  const auto contains = [](const IntervalList& list, double x) {
    const bson::OwnedValue probe = bson::Number::Double(x).ToValue();
    for (const Interval& interval : list) {
      if (interval.Contains(probe)) return true;
    }
    return false;
  };
  for (int round = 0; round < 2000; ++round) {
    const IntervalList a = make(), b = make(), both = Intersect(a, b), either = Union(a, b);
    bool within = true;
    for (double x = -1; x <= 15; x += 0.5) {
      ASSERT_EQ(contains(both, x), contains(a, x) && contains(b, x)) << Show(a) << " & " << Show(b);
      ASSERT_EQ(contains(either, x), contains(a, x) || contains(b, x))
          << Show(a) << " | " << Show(b);
      within = within && (!contains(a, x) || contains(b, x));
    }
    ASSERT_TRUE(within || !IsWithin(a, b)) << Show(a) << " in " << Show(b);
    ASSERT_TRUE(IsWithin(a, either));
  }
}

TEST(Bounds, KnowFiltersThatAreNeverTrue) {
  const QueryContext context;
  EXPECT_TRUE(IsNeverTrue(ParseFilter(R"({"a": {"$in": []}, "b": 1})", context).root()));
  EXPECT_TRUE(IsNeverTrue(ParseFilter(R"({"$alwaysFalse": 1})", context).root()));
  EXPECT_TRUE(IsNeverTrue(ParseFilter(R"({"a": {"$all": []}})", context).root()));
  EXPECT_FALSE(IsNeverTrue(ParseFilter(R"({"a": {"$nin": []}})", context).root()));
  EXPECT_FALSE(
      IsNeverTrue(ParseFilter(R"({"$or": [{"a": {"$in": []}}, {"b": 1}]})", context).root()));
}

}  // namespace
}  // namespace evenkeel::query
