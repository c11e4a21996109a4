// Comparison predicates agree with the comparison order inside a type bracket, and match nothing
// outside it.
#include "query/match/predicate.h"

#include <vector>

#include "base/bson/compare.h"
#include "base/random.h"
#include "query/match/node.h"
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

// One array of values of every type, several where order matters. NaN and the key types have rules
// of their own.
constexpr std::string_view kValues = R"({"v": [
    {"$undefined": true}, null, -5, 0, -0.0, 1, 1.5, {"$numberLong": "7"}, {"$numberDecimal": "7.5"},
    {"$numberDouble": "Infinity"}, "", "a", "ab", "b", {"$symbol": "a"}, {}, {"a": 1}, {"a": 2}, {"b": 0}, [], [1], [1, 2], [2],
    {"$binary": {"base64": "", "subType": "00"}}, {"$binary": {"base64": "AQ==", "subType": "00"}},
    {"$oid": "000000000000000000000001"}, {"$oid": "000000000000000000000002"}, false, true,
    {"$date": {"$numberLong": "-1"}}, {"$date": {"$numberLong": "5"}}, {"$timestamp": {"t": 1, "i": 1}},
    {"$timestamp": {"t": 1, "i": 2}}, {"$code": "f"}]})";

std::vector<bson::Value> ValuesOf(const bson::Document& document) {
  std::vector<bson::Value> out;
  for (const bson::Element& element : document["v"].AsDocument()) out.push_back(element.value);
  return out;
}

TEST(Predicate, AgreesWithTheComparisonOrder) {
  const bson::Document document = Json(kValues);
  const std::vector<bson::Value> values = ValuesOf(document);
  MatchDetails details;
  for (const bson::Value a : values) {
    for (const bson::Value b : values) {
      const bool same_bracket = bson::CanonicalRank(a.type()) == bson::CanonicalRank(b.type());
      const int order = bson::Compare(a, b);
      const auto matches = [&](PredicateKind kind) {
        return ComparisonPredicate(kind, b, nullptr).Matches(a, details);
      };
      const std::string shown = bson::ToDisplay(a) + " against " + bson::ToDisplay(b);
      EXPECT_EQ(matches(PredicateKind::kEqual), same_bracket && order == 0) << shown;
      EXPECT_EQ(matches(PredicateKind::kLess), same_bracket && order < 0) << shown;
      EXPECT_EQ(matches(PredicateKind::kLessOrEqual), same_bracket && order <= 0) << shown;
      EXPECT_EQ(matches(PredicateKind::kGreater), same_bracket && order > 0) << shown;
      EXPECT_EQ(matches(PredicateKind::kGreaterOrEqual), same_bracket && order >= 0) << shown;
    }
  }
}

TEST(Predicate, InIsEqualityWithOneOfTheValues) {
  const bson::Document document = Json(kValues);
  const std::vector<bson::Value> values = ValuesOf(document);
  base::Random random(3);
  MatchDetails details;
  for (int round = 0; round < 300; ++round) {
    std::vector<bson::Value> chosen;
    for (const bson::Value value : values) {
      if (random.Uniform(4) == 0) chosen.push_back(value);
    }
    const InPredicate in(chosen, {}, nullptr);
    for (const bson::Value value : values) {
      bool expected = false;
      for (const bson::Value candidate : chosen) expected |= bson::Compare(candidate, value) == 0;
      EXPECT_EQ(in.Matches(value, details), expected) << bson::ToDisplay(value);
    }
  }
}

}  // namespace
}  // namespace evenkeel::query::match
