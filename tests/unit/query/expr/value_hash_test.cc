// Values that compare equal hash alike, for every pair of a list over all types.
#include "query/expr/value_hash.h"

#include <gtest/gtest.h>

#include "base/bson/compare.h"
#include "base/bson/json.h"
#include "query/collation/collation.h"
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(ValueHash, AgreesWithCompare) {
  const bson::Document values = Wrap(R"([
      0, 1, {"$numberLong": "1"}, 1.0, {"$numberDecimal": "1"}, {"$numberDecimal": "1.00"}, -0.0,
      0.5, {"$numberDecimal": "0.5"}, 0.1, {"$numberDecimal": "0.1"}, {"$numberDecimal": "0.10"},
      {"$numberDouble": "NaN"}, {"$numberDecimal": "NaN"}, {"$numberDouble": "Infinity"},
      {"$numberDecimal": "Infinity"}, {"$numberDouble": "1e300"}, {"$numberDecimal": "1E+300"},
      {"$numberLong": "9223372036854775807"}, 9223372036854775808.0,
      {"$numberDecimal": "9223372036854775808"}, {"$numberDecimal": "1E+6000"},
      "a", {"$symbol": "a"}, "", null, {"$undefined": true}, true, false, [1], [1.0], [], {},
      {"a": 1}, {"a": 1.0}, {"b": 1}, {"$date": {"$numberLong": "1"}},
      {"$timestamp": {"t": 0, "i": 1}}, {"$minKey": 1}, {"$maxKey": 1},
      {"$oid": "0123456789abcdef01234567"}, {"$binary": {"base64": "YQ==", "subType": "00"}},
      {"$binary": {"base64": "YQ==", "subType": "05"}}, {"$code": "a"},
      {"$regularExpression": {"pattern": "a", "options": "i"}}])");
  size_t equal = 0;
  for (const bson::Element& a : values["v"].AsDocument()) {
    for (const bson::Element& b : values["v"].AsDocument()) {
      if (bson::Compare(a.value, b.value) != 0) continue;
      EXPECT_EQ(HashOf(a.value), HashOf(b.value)) << "elements " << a.key << " and " << b.key;
      ++equal;
    }
  }
  EXPECT_GT(equal, values["v"].AsDocument().CountFields());
  EXPECT_EQ(HashOf(bson::Value()), HashOf(Wrap(R"({"$undefined": true})")["v"]));
}

TEST(ValueHash, TellsValuesApart) {
  ValueSet set = MakeValueSet(nullptr);
  const bson::Document values = Wrap(R"([1, 2, "1", [1], {"a": 1}, {"a": 2}, {"b": 1}, null])");
  for (const bson::Element& e : values["v"].AsDocument()) set.insert(e.value);
  EXPECT_EQ(set.size(), 8u);
  std::set<uint64_t> hashes;
  for (const bson::Element& e : values["v"].AsDocument()) hashes.insert(HashOf(e.value));
  EXPECT_EQ(hashes.size(), 8u);
}

TEST(ValueHash, FollowsCollations) {
  const bson::Document spec = Wrap(R"({"locale": "en", "strength": 1})");
  const absl::StatusOr<const Collation*> collation = Collation::Get(spec["v"].AsDocument());
  ASSERT_TRUE(collation.ok()) << collation.status();
  const bson::Document values = Wrap(R"(["resume", "Résumé", "RESUME", "resumes", {"a": "x"},
                                         {"a": "X"}])");
  const bson::View list = values["v"].AsDocument();
  const auto hash = [&](std::string_view at) { return HashOf(list[at], *collation); };
  EXPECT_EQ(hash("0"), hash("1"));
  EXPECT_EQ(hash("0"), hash("2"));
  EXPECT_NE(hash("0"), hash("3"));
  EXPECT_EQ(hash("4"), hash("5"));
}

}  // namespace
}  // namespace evenkeel::query::expr
