// Tests of the comparison order: ranks, each type's own order, and the laws of an order over all
// pairs and triples.
#include "base/bson/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/bson/json.h"
#include "tests/unit/base/bson/samples.h"

namespace evenkeel::bson {
namespace {

int SignOf(int order) { return order < 0 ? -1 : (order > 0 ? 1 : 0); }

std::string Shown(Value value) { return ToDisplay(value); }

// The elements of the array that `json` describes.
std::vector<OwnedValue> Elements(std::string_view json) {
  std::vector<OwnedValue> values;
  const Document document = Json("{\"a\":" + std::string(json) + "}");
  for (const Element& element : document["a"].AsDocument()) values.emplace_back(element.value);
  return values;
}

// Every value of the list is below every later one.
void ExpectRising(const std::vector<OwnedValue>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < values.size(); ++j) {
      const int expected = i < j ? -1 : (i > j ? 1 : 0);
      EXPECT_EQ(SignOf(Compare(values[i], values[j])), expected)
          << Shown(values[i]) << " and " << Shown(values[j]);
    }
  }
}

void ExpectAllEqual(const std::vector<OwnedValue>& values) {
  for (const OwnedValue& a : values) {
    for (const OwnedValue& b : values)
      EXPECT_EQ(Compare(a, b), 0) << Shown(a) << " and " << Shown(b);
  }
}

TEST(CompareTest, TypesInTheManualsOrder) {
  ExpectRising(Elements(R"([
    {"$minKey": 1}, {"$undefined": true}, null, 5, "text", {"a": 1}, [1],
    {"$binary": {"base64": "", "subType": "00"}}, {"$oid": "000000000000000000000000"}, false,
    {"$date": {"$numberLong": "5"}}, {"$timestamp": {"t": 0, "i": 1}},
    {"$regularExpression": {"pattern": "a", "options": ""}},
    {"$dbPointer": {"$ref": "c", "$id": {"$oid": "000000000000000000000000"}}},
    {"$code": "f"}, {"$code": "f", "$scope": {}}, {"$maxKey": 1}])"));
}

TEST(CompareTest, OrderWithinTypes) {
  const char* const lists[] = {
      R"([{"$numberDouble":"NaN"}, {"$numberDouble":"-Infinity"}, {"$numberDecimal":"-1E+6000"},
          -1.5, -1,
          {"$numberDecimal":"-1E-6000"}, 0, {"$numberDecimal":"1E-6176"}, 5e-324, 0.1,
          {"$numberDecimal":"0.2"}, 1,
          {"$numberLong":"9223372036854775807"}, {"$numberDecimal":"9223372036854775807.5"},
          9223372036854775808.0,
          {"$numberDecimal":"1E+310"}, {"$numberDouble":"Infinity"}])",
      R"(["", "A", "a", "a\u0000", "a\u0000b", "aa", "b", "ä"])",
      R"([{}, {"a": null}, {"a": 1}, {"a": 1, "b": 1}, {"a": 2}, {"b": 0}, {"a": "x"}, {"a": {}},
          {"a": true}])",
      R"([[], [null], [1], [1, 1], [2], ["x"], [{}], [[]]])",
      R"([{"$binary":{"base64":"","subType":"05"}}, {"$binary":{"base64":"/w==","subType":"00"}},
          {"$binary":{"base64":"AA==","subType":"80"}},
          {"$binary":{"base64":"AAA=","subType":"00"}},
          {"$binary":{"base64":"AAE=","subType":"00"}},
          {"$binary":{"base64":"AAA=","subType":"01"}}])",
      R"([{"$oid":"000000000000000000000001"}, {"$oid":"0f0000000000000000000000"},
          {"$oid":"ff0000000000000000000000"}])",
      R"([false, true])",
      R"([{"$date":{"$numberLong":"-9223372036854775808"}}, {"$date":{"$numberLong":"-1"}},
          {"$date":{"$numberLong":"0"}}, {"$date":{"$numberLong":"1"}}])",
      R"([{"$timestamp":{"t":0,"i":0}}, {"$timestamp":{"t":0,"i":4294967295}},
          {"$timestamp":{"t":1,"i":0}},
          {"$timestamp":{"t":4294967295,"i":0}}])",
      R"([{"$regularExpression":{"pattern":"a","options":""}},
          {"$regularExpression":{"pattern":"a","options":"i"}},
          {"$regularExpression":{"pattern":"aa","options":""}},
          {"$regularExpression":{"pattern":"b","options":""}}])",
      R"([{"$dbPointer":{"$ref":"z","$id":{"$oid":"000000000000000000000000"}}},
          {"$dbPointer":{"$ref":"aa","$id":{"$oid":"000000000000000000000000"}}},
          {"$dbPointer":{"$ref":"aa","$id":{"$oid":"000000000000000000000001"}}},
          {"$dbPointer":{"$ref":"ab","$id":{"$oid":"000000000000000000000000"}}}])",
      R"([{"$code":""}, {"$code":"a"}, {"$code":"b"}])",
      R"([{"$code":"a","$scope":{}}, {"$code":"a","$scope":{"x":1}}, {"$code":"b","$scope":{}}])",
  };
  for (const char* list : lists) ExpectRising(Elements(list));
}

TEST(CompareTest, EqualAcrossTypes) {
  ExpectAllEqual(
      Elements(R"([1, {"$numberLong":"1"}, 1.0, {"$numberDecimal":"1"}, {"$numberDecimal":"1.00"},
                              {"$numberDecimal":"0.1E+1"}])"));
  ExpectAllEqual(Elements(
      R"([0, 0.0, {"$numberDouble":"-0.0"}, {"$numberDecimal":"-0"}, {"$numberDecimal":"0E+6000"},
                              {"$numberLong":"0"}])"));
  ExpectAllEqual(Elements(
      R"([{"$numberDouble":"NaN"}, {"$numberDecimal":"NaN"}, {"$numberDecimal":"-NaN"}])"));
  ExpectAllEqual(Elements(R"([{"$numberDouble":"Infinity"}, {"$numberDecimal":"Infinity"}])"));
  ExpectAllEqual(Elements(R"(["abc", {"$symbol":"abc"}])"));
  ExpectAllEqual(Elements(R"([{"a":1}, {"a":1.0}])"));
  ExpectAllEqual({OwnedValue(), Elements(R"([{"$undefined":true}])")[0]});
}

TEST(CompareTest, FieldOrderMatters) {
  const Document ab = Json(R"({"a": 1, "b": 2})");
  const Document ba = Json(R"({"b": 2, "a": 1})");
  EXPECT_LT(CompareDocuments(ab, ba), 0);
  EXPECT_GT(CompareDocuments(ba, ab), 0);
}

TEST(CompareTest, RankOfAFieldGoesBeforeItsName) {
  EXPECT_LT(CompareDocuments(Json(R"({"z": 1})"), Json(R"({"a": "x"})")), 0);
}

TEST(CompareTest, ArraysIgnoreTheirNames) {
  Builder odd;
  odd.OpenArray("a").Append("7", 1).Append("x", 2);
  EXPECT_EQ(Compare(odd.Finish()["a"], Json(R"({"a":[1, 2]})")["a"]), 0);
}

TEST(CompareTest, SortKeysIgnoreNames) {
  const Document a = Json(R"({"x": 1, "y": 2})");
  const Document b = Json(R"({"p": 1, "q": 3})");
  EXPECT_LT(CompareDocuments(a, b, nullptr, false), 0);
  EXPECT_EQ(CompareDocuments(a, Json(R"({"": 1, "q": 2})"), nullptr, false), 0);
}

// Compares strings by length only.
class ByLength final : public StringComparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    return static_cast<int>(a.size()) - static_cast<int>(b.size());
  }
  std::string SortKey(std::string_view text) const override {
    return std::string(1, static_cast<char>(text.size()));
  }
};

TEST(CompareTest, CollationAppliesToStringsAtAnyDepth) {
  const ByLength by_length;
  EXPECT_EQ(Compare(Text("aa"), Text("zz"), &by_length), 0);
  EXPECT_NE(Compare(Text("aa"), Text("zz")), 0);
  EXPECT_EQ(
      CompareDocuments(Json(R"({"a":[{"b":"aa"}]})"), Json(R"({"a":[{"b":"zz"}]})"), &by_length),
      0);
  EXPECT_NE(CompareDocuments(Json(R"({"aa":1})"), Json(R"({"zz":1})"), &by_length), 0) << "names";
}

TEST(CompareTest, LawsOfAnOrderOverAllTrickyValues) {
  const std::vector<OwnedValue> values = TrickyValues();
  const size_t n = values.size();
  ASSERT_GE(n, 150u);
  std::vector<std::vector<int>> order(n, std::vector<int>(n));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) order[i][j] = SignOf(Compare(values[i], values[j]));
  }
  for (size_t i = 0; i < n; ++i) {
    EXPECT_EQ(order[i][i], 0) << Shown(values[i]);
    for (size_t j = 0; j < n; ++j) {
      EXPECT_EQ(order[i][j], -order[j][i]) << Shown(values[i]) << " and " << Shown(values[j]);
      const int ranks =
          CanonicalRank(values[i].value().type()) - CanonicalRank(values[j].value().type());
      if (ranks != 0) {
        EXPECT_EQ(order[i][j], SignOf(ranks)) << Shown(values[i]);
      }
      for (size_t k = 0; k < n; ++k) {
        if (order[i][j] > 0 || order[j][k] > 0) continue;
        const int expected = order[i][j] == 0 && order[j][k] == 0 ? 0 : -1;
        ASSERT_EQ(order[i][k], expected)
            << Shown(values[i]) << ", " << Shown(values[j]) << ", " << Shown(values[k]);
      }
    }
  }
}

TEST(CompareTest, LawsOfAnOrderOverRandomDocuments) {
  base::Random random(11);
  std::vector<Document> documents;
  for (int i = 0; i < 120; ++i) documents.push_back(RandomDocument(random, 2));
  std::sort(documents.begin(), documents.end(),
            [](const Document& a, const Document& b) { return CompareDocuments(a, b) < 0; });
  for (size_t i = 0; i < documents.size(); ++i) {
    for (size_t j = i; j < documents.size(); ++j) {
      ASSERT_LE(CompareDocuments(documents[i], documents[j]), 0);
      ASSERT_GE(CompareDocuments(documents[j], documents[i]), 0);
    }
  }
}

TEST(IdenticalTest, NeedsSameTypeAndBytes) {
  EXPECT_TRUE(Identical(Int(1), Int(1)));
  EXPECT_FALSE(Identical(Int(1), Real(1)));
  EXPECT_FALSE(Identical(Real(0.0), Real(-0.0)));
  EXPECT_FALSE(Identical(Dec("1"), Dec("1.0")));
  EXPECT_TRUE(Identical(Value(), Value()));
  EXPECT_FALSE(Identical(Value(), Value(Type::kNull, nullptr)));
}

}  // namespace
}  // namespace evenkeel::bson
