// Sums that do not depend on order or on how the input is divided.
#include "query/expr/running_sum.h"

#include <gtest/gtest.h>

#include "base/bson/json.h"
#include "base/random.h"
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

std::string Total(const RunningSum& sum) {
  bson::Builder builder;
  builder.Append("v", sum.Total().ToValue());
  return bson::ToCanonicalJson(builder.Finish());
}

TEST(RunningSum, Totals) {
  const struct {
    std::string_view values, total;
  } cases[] = {
      {"[]", "0"},
      {"[1, 2]", "3"},
      {"[2147483647, 1]", R"({"$numberLong": "2147483648"})"},
      {R"([{"$numberLong": "9223372036854775807"}, 1, -1])",
       R"({"$numberLong": "9223372036854775807"})"},
      {R"([{"$numberLong": "9223372036854775807"}, 1])",
       R"({"$numberDouble": "9223372036854775808.0"})"},
      {R"([{"$numberDouble": "1e100"}, 1.0, {"$numberDouble": "-1e100"}])", "1.0"},
      {"[0.1, 0.2, 0.3]", "0.6"},
      {R"([1, 0.5, {"$numberDecimal": "0.25"}])", R"({"$numberDecimal": "1.75"})"},
      {R"([{"$numberDouble": "Infinity"}, 1])", R"({"$numberDouble": "Infinity"})"},
      {R"([{"$numberDouble": "Infinity"}, {"$numberDouble": "-Infinity"}])",
       R"({"$numberDouble": "NaN"})"},
  };
  for (const auto& test : cases) {
    RunningSum sum;
    const bson::Document values = Wrap(test.values);
    for (const bson::Element& e : values["v"].AsDocument()) sum.Add(e.value);
    EXPECT_EQ(Total(sum), bson::ToCanonicalJson(Wrap(test.total))) << test.values;
  }
}

TEST(RunningSum, PartsMergeToTheWhole) {
  base::Random random(7);
  for (int round = 0; round < 200; ++round) {
    RunningSum whole, parts[3];
    const uint64_t count = random.Uniform(20);
    for (uint64_t i = 0; i < count; ++i) {
      EvalArena arena;
      bson::Value value;
      switch (random.Uniform(3)) {
        case 0:
          value = arena.Int32(static_cast<int32_t>(random.Next64()));
          break;
        case 1:
          value = arena.Int64(static_cast<int64_t>(random.Next64()));
          break;
        default:
          value =
              arena.Double(std::ldexp(random.Double() - 0.5, static_cast<int>(random.Uniform(40))));
      }
      whole.Add(value);
      parts[random.Uniform(3)].Add(value);
    }
    RunningSum merged;
    for (const RunningSum& part : parts) {
      bson::Builder builder;
      part.Serialize(builder, "s");
      merged.Merge(RunningSum::Deserialize(builder.Finish()["s"]));
    }
    EXPECT_EQ(Total(merged), Total(whole)) << "round " << round;
  }
}

}  // namespace
}  // namespace evenkeel::query::expr
