// Every accumulator over whole inputs and over inputs split into parts whose states are serialized
// and merged.
#include "query/accum/accumulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "base/bson/compare.h"
#include "base/random.h"
#include "query/accum/table.h"
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::accum {
namespace {

using expr::Wrap;

// One state with its memory.
class State {
 public:
  State(const AccumOp& op, bson::Value argument) : op_(op) {
    memory_ = static_cast<char*>(::operator new(op.state_bytes));
    status_ = op.init(memory_, argument);
  }
  ~State() {
    op_.destroy(memory_);
    ::operator delete(memory_);
  }
  State(const State&) = delete;

  void Add(bson::Value value) {
    if (status_.ok()) status_ = op_.add(memory_, value, context_);
  }
  void Merge(const State& part) {
    bson::Builder builder;
    part.op_.serialize(part.memory_, builder, "p");
    if (status_.ok()) status_ = op_.merge(memory_, builder.Finish()["p"], context_);
  }
  absl::StatusOr<bson::Document> Finish() const {
    if (!status_.ok()) return status_;
    bson::Builder builder;
    op_.finish(memory_, builder, "v");
    return builder.Finish();
  }
  size_t memory_bytes() const { return context_.memory_bytes; }

 private:
  const AccumOp& op_;
  char* memory_;
  AccumContext context_;
  absl::Status status_;
};

bool TakesOrder(std::string_view name) {
  return name.starts_with("$top") || name.starts_with("$bottom");
}

bson::Value ArgumentOf(const AccumOp& op) {
  static const bson::Document two = Wrap("2");
  static const bson::Document order = Wrap(R"({"n": 2, "by": {"a": 1}})");
  static const bson::Document one = Wrap(R"({"n": 1, "by": {"a": 1}})");
  static const bson::Document shares = Wrap("[0.5, 0.9]");
  if (TakesOrder(op.name)) return op.name.ends_with("N") ? order["v"] : one["v"];
  if (op.name == "$percentile") return shares["v"];
  return op.name.ends_with("N") ? two["v"] : bson::Value();
}

struct Case {
  std::string_view name, values, result;  // a value of {"$undefined": true} stands for missing
};

absl::StatusOr<bson::Document> Accumulate(std::string_view name, std::string_view json) {
  const AccumOp* op = FindAccumulator(name);
  EXPECT_NE(op, nullptr) << name;
  State state(*op, ArgumentOf(*op));
  const bson::Document values = Wrap(json);
  for (const bson::Element& e : values["v"].AsDocument()) {
    state.Add(e.value.Is(bson::Type::kUndefined) ? bson::Value() : e.value);
  }
  return state.Finish();
}

constexpr std::string_view kMixed = R"([3, null, 1.5, "x", {"$undefined": true}, 3, [7]])";

TEST(Accumulators, Results) {
  const Case cases[] = {
      {"$sum", kMixed, "7.5"},
      {"$sum", "[]", "0"},
      {"$sum", "[2147483647, 1]", R"({"$numberLong": "2147483648"})"},
      {"$avg", kMixed, "2.5"},
      {"$avg", "[null]", "null"},
      {"$count", "[1, 1, 1]", "3"},
      {"$min", kMixed, "1.5"},
      {"$max", kMixed, "[7]"},
      {"$min", "[null]", "null"},
      {"$first", kMixed, "3"},
      {"$first", R"([{"$undefined": true}, 1])", "null"},
      {"$last", kMixed, "[7]"},
      {"$last", "[1, null]", "null"},
      {"$push", kMixed, R"([3, null, 1.5, "x", 3, [7]])"},
      {"$addToSet", R"([1, 1.0, "a", null, "a", {"$undefined": true}])", R"([1, "a", null])"},
      {"$firstN", kMixed, "[3, null]"},
      {"$lastN", kMixed, "[3, [7]]"},
      {"$maxN", "[4, null, 9, 2, 9]", "[9, 9]"},
      {"$minN", "[4, null, 9, 2, 9]", "[2, 4]"},
      {"$stdDevPop", R"([2, 4, "x"])", "1.0"},
      {"$stdDevSamp", "[2]", "null"},
      {"$stdDevPop", "[2]", "0.0"},
      {"$mergeObjects", R"([{"a": 1, "b": 2}, null, {"a": 3}])", R"({"a": 3, "b": 2})"},
      {"$setUnion", R"([[1, 2], [2, 3], {"$undefined": true}])", "[1, 2, 3]"},
      {"$concatArrays", R"([[1], {"$undefined": true}, [1, 2]])", "[1, 1, 2]"},
  };
  for (const Case& test : cases) {
    const absl::StatusOr<bson::Document> got = Accumulate(test.name, test.values);
    ASSERT_TRUE(got.ok()) << test.name << test.values << got.status();
    EXPECT_EQ(bson::ToCanonicalJson(*got), bson::ToCanonicalJson(Wrap(test.result)))
        << test.name << " of " << test.values;
  }
}

TEST(Accumulators, Errors) {
  const struct {
    std::string_view name, values;
    int code;
  } cases[] = {
      {"$mergeObjects", "[1]", 5911200},
      {"$setUnion", "[null]", 14},
      {"$concatArrays", "[[1], 2]", 14},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(static_cast<int>(CodeOf(Accumulate(test.name, test.values).status())), test.code)
        << test.name;
  }
}

TEST(Accumulators, NMustBePositiveAndWhole) {
  const struct {
    std::string_view n;
    int code;
  } cases[] = {{R"("x")", 5787902}, {"1.5", 5787903}, {"0", 5787908}, {"-1", 5787908}};
  for (const auto& test : cases) {
    const bson::Document n = Wrap(test.n);
    const State state(*FindAccumulator("$firstN"), n["v"]);
    EXPECT_EQ(static_cast<int>(CodeOf(state.Finish().status())), test.code) << test.n;
  }
}

// A random value that `name` accepts.
bson::Document RandomValue(std::string_view name, base::Random& random) {
  const auto digit = [&random] { return std::to_string(random.Uniform(6)); };
  if (TakesOrder(name)) return Wrap("{\"k\": [" + digit() + "], \"v\": " + digit() + "}");
  if (name == "$mergeObjects") return Wrap("{\"f" + digit() + "\": " + digit() + "}");
  if (name == "$setUnion" || name == "$concatArrays") {
    return Wrap("[" + digit() + ", \"" + digit() + "\"]");
  }
  switch (random.Uniform(8)) {
    case 0:
      return Wrap("null");
    case 1:
      return bson::Document();  // missing
    case 2:
      return Wrap("\"t" + digit() + "\"");
    case 3:
      return Wrap("{\"$numberLong\": \"" + digit() + "\"}");
    case 4:
      return Wrap(digit() + ".25");
    case 5:
      return Wrap("[" + digit() + "]");
    default:
      return Wrap(digit());
  }
}

// The result with the elements of a set in order, so that sets compare.
std::string Normal(std::string_view name, const absl::StatusOr<bson::Document>& result) {
  if (!result.ok()) return std::string(MessageOf(result.status()));
  if (name != "$addToSet" && name != "$setUnion") return bson::ToCanonicalJson(*result);
  std::vector<std::string> elements;
  for (const bson::Element& e : (*result)["v"].AsDocument()) {
    elements.push_back(bson::ToDisplay(e.value));
  }
  std::sort(elements.begin(), elements.end());
  std::string joined;
  for (const std::string& element : elements) joined += element + ";";
  return joined;
}

TEST(Accumulators, PartsMergeToTheWhole) {
  base::Random random(11);
  for (const AccumOp* op : AllAccumulators()) {
    if (op->init == nullptr || op->merge == nullptr) continue;  // of windows only
    for (int round = 0; round < 60; ++round) {
      State whole(*op, ArgumentOf(*op));
      std::vector<std::unique_ptr<State>> parts;
      for (int i = 0; i < 3; ++i) parts.push_back(std::make_unique<State>(*op, ArgumentOf(*op)));
      // Contiguous parts, so that accumulators that depend on order see them in order; each has at
      // least one value.
      for (const auto& part : parts) {
        for (uint64_t count = 1 + random.Uniform(5); count > 0; --count) {
          const bson::Document value = RandomValue(op->name, random);
          whole.Add(value["v"]);
          part->Add(value["v"]);
        }
      }
      State merged(*op, ArgumentOf(*op));
      for (const auto& part : parts) merged.Merge(*part);
      if (op->name.starts_with("$stdDev")) {
        const absl::StatusOr<bson::Document> m = merged.Finish();
        const bson::Document w = *whole.Finish();
        ASSERT_EQ(w["v"].type(), (*m)["v"].type());
        if (w["v"].Is(bson::Type::kDouble)) {
          EXPECT_NEAR(w["v"].AsDouble(), (*m)["v"].AsDouble(), 1e-9);
        }
        continue;
      }
      EXPECT_EQ(Normal(op->name, merged.Finish()), Normal(op->name, whole.Finish()))
          << op->name << " round " << round;
    }
  }
}

TEST(Accumulators, MemoryIsCounted) {
  for (const std::string_view name : {"$push", "$addToSet", "$first", "$max", "$lastN"}) {
    const AccumOp* op = FindAccumulator(name);
    State state(*op, ArgumentOf(*op));
    const bson::Document value = Wrap("\"" + std::string(5000, 'x') + "\"");
    state.Add(value["v"]);
    EXPECT_GE(state.memory_bytes(), 4900u) << name;
    EXPECT_LT(state.memory_bytes(), 20000u) << name;
  }
}

}  // namespace
}  // namespace evenkeel::query::accum
