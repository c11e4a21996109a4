// Collations: their rules, keys, complete documents and errors.
#include "query/collation/collation.h"

#include <gtest/gtest.h>

#include "base/bson/json.h"
#include "base/status.h"

namespace evenkeel::query {
namespace {

bson::Document Json(std::string_view json) { return *bson::FromJson(json); }

const Collation* GetOrDie(std::string_view json) {
  const auto collation = Collation::Get(Json(json));
  EXPECT_TRUE(collation.ok()) << json << ": " << collation.status();
  return collation.ok() ? *collation : nullptr;
}

int Sign(int order) { return order < 0 ? -1 : (order > 0 ? 1 : 0); }

struct OrderCase {
  std::string_view collation, a, b;
  int order;
};

constexpr OrderCase kOrders[] = {
    {R"({"locale": "en"})", "a", "A", -1},
    {R"({"locale": "en", "strength": 1})", "cafe", "CAFÉ", 0},
    {R"({"locale": "en", "strength": 2})", "cafe", "CAFE", 0},
    {R"({"locale": "en", "strength": 2})", "cafe", "café", -1},
    {R"({"locale": "en", "strength": 1, "caseLevel": true})", "a", "á", 0},
    {R"({"locale": "en", "strength": 1, "caseLevel": true})", "a", "A", -1},
    {R"({"locale": "en", "caseFirst": "upper"})", "a", "A", 1},
    {R"({"locale": "en", "numericOrdering": true})", "file10", "file9", 1},
    {R"({"locale": "en", "strength": 3, "alternate": "shifted"})", "a b", "ab", 0},
    {R"({"locale": "en", "strength": 3, "alternate": "shifted", "maxVariable": "space"})", "a-b",
     "ab", -1},
    {R"({"locale": "fr", "strength": 2, "backwards": true})", "côte", "coté", -1},
    {R"({"locale": "fr", "strength": 2})", "côte", "coté", 1},
    {R"({"locale": "de@collation=phonebook", "strength": 1})", "ä", "ae", 0},
    {R"({"locale": "sv"})", "z", "ä", -1},
    {R"({"locale": "en", "strength": 2.9})", "a", "A", 0},
};

TEST(Collation, Orders) {
  for (const OrderCase& test : kOrders) {
    const Collation* collation = GetOrDie(test.collation);
    ASSERT_NE(collation, nullptr) << test.collation;
    EXPECT_EQ(Sign(collation->Compare(test.a, test.b)), test.order)
        << test.collation << " " << test.a << " " << test.b;
    EXPECT_EQ(Sign(collation->SortKey(test.a).compare(collation->SortKey(test.b))), test.order)
        << "key: " << test.collation << " " << test.a << " " << test.b;
  }
}

TEST(Collation, LongTextsHaveWholeKeys) {
  const Collation* collation = GetOrDie(R"({"locale": "en", "strength": 2})");
  const std::string text(5000, 'x');
  EXPECT_EQ(collation->SortKey(text + "a"), collation->SortKey(text + "A"));
  EXPECT_LT(collation->SortKey(text + "a"), collation->SortKey(text + "b"));
}

TEST(Collation, SimpleIsNone) {
  EXPECT_EQ(GetOrDie(R"({})"), nullptr);
  EXPECT_EQ(GetOrDie(R"({"locale": "simple"})"), nullptr);
  EXPECT_EQ(GetOrDie(R"({"locale": "simple", "strength": 1})"), nullptr);
}

TEST(Collation, CommandComesBeforeCollection) {
  const bson::Document en = Json(R"({"locale": "en"})"), simple = Json(R"({"locale": "simple"})");
  EXPECT_NE(*Collation::ForCommand({}, en), nullptr);
  EXPECT_EQ(*Collation::ForCommand(simple, en), nullptr);
}

TEST(Collation, ShowsAllFields) {
  EXPECT_EQ(bson::ToJson(GetOrDie(R"({"locale": "fr_CA", "strength": 2})")->spec()),
            bson::ToJson(Json(R"({"locale": "fr_CA", "caseLevel": false, "caseFirst": "off",
                "strength": 2, "numericOrdering": false, "alternate": "non-ignorable",
                "maxVariable": "punct", "normalization": false, "backwards": true,
                "version": "57.1"})")));
}

struct ErrorCase {
  std::string_view collation;
  int code;
};

constexpr ErrorCase kErrors[] = {
    {R"({"strength": 2})", 40414},
    {R"({"locale": "en", "nope": 1})", 40415},
    {R"({"locale": 1})", 14},
    {R"({"locale": "invalid_locale_xyz"})", 2},
    {R"({"locale": "en", "strength": 6})", 2},
    {R"({"locale": "en", "strength": "1"})", 14},
    {R"({"locale": "en", "caseFirst": "middle"})", 2},
    {R"({"locale": "en", "alternate": "never"})", 2},
    {R"({"locale": "en", "maxVariable": "all"})", 2},
    {R"({"locale": "en", "caseLevel": 1})", 14},
    {R"({"locale": "en", "strength": 1, "caseFirst": "upper"})", 2},
    {R"({"locale": "fr", "strength": 1, "backwards": true})", 2},
    {R"({"locale": "en", "version": "1"})", 238},
};

TEST(Collation, Errors) {
  for (const ErrorCase& test : kErrors) {
    const auto collation = Collation::Get(Json(test.collation));
    ASSERT_FALSE(collation.ok()) << test.collation;
    EXPECT_EQ(static_cast<int>(CodeOf(collation.status())), test.code)
        << test.collation << ": " << collation.status();
  }
}

}  // namespace
}  // namespace evenkeel::query
