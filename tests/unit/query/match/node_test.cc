// The tree: one pass over a document gives what single look-ups give.
#include "query/match/node.h"

#include "base/random.h"
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

// A document with fields a to f, some left out, some arrays.
std::string RandomDocument(base::Random& random) {
  std::string out = "{";
  for (char name = 'a'; name <= 'f'; ++name) {
    if (random.Uniform(4) == 0) continue;
    const std::string value = std::to_string(random.Uniform(3));
    if (out.size() > 1) out += ", ";
    out +=
        std::string("\"") + name + "\": " + (random.Uniform(3) == 0 ? "[9, " + value + "]" : value);
  }
  return out + "}";
}

TEST(Node, OnePassGivesWhatSingleConditionsGive) {
  base::Random random(7);
  const QueryContext context;
  int matched = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string conjunction = "{";
    bool expected = true;
    const bson::Document document = Json(RandomDocument(random));
    for (char name = 'a'; name <= 'f'; ++name) {
      if (random.Uniform(2) == 0) continue;
      const std::string condition = std::string("\"") + name + "\": {\"$" +
                                    (random.Uniform(2) == 0 ? "gte" : "ne") +
                                    "\": " + std::to_string(random.Uniform(3)) + "}";
      expected = expected && ParseOrDie("{" + condition + "}", context).Matches(document);
      conjunction += (conjunction.size() > 1 ? ", " : "") + condition;
    }
    conjunction += "}";
    matched += expected;
    ASSERT_EQ(ParseOrDie(conjunction, context).Matches(document), expected)
        << conjunction << " on " << bson::ToJson(document);
  }
  EXPECT_GT(matched, 100);
}

TEST(Node, TheFirstOfFieldsWithOneNameCounts) {
  const QueryContext context;
  const Filter filter = ParseOrDie(R"({"a": 1, "b": 2})", context);
  EXPECT_TRUE(filter.Matches(Json(R"({"a": 1, "b": 2, "a": 3})")));
  EXPECT_FALSE(filter.Matches(Json(R"({"a": 3, "b": 2, "a": 1})")));
}

TEST(Node, ManyFieldsAreFoundToo) {
  const QueryContext context;
  std::string filter = "{", document = "{";
  for (int i = 0; i < 20; ++i) {
    const std::string field = "\"f" + std::to_string(i) + "\": " + std::to_string(i);
    filter += (i ? ", " : "") + field;
    document = document + (i ? ", " : "") + field;
  }
  EXPECT_TRUE(ParseOrDie(filter + "}", context).Matches(Json(document + "}")));
  EXPECT_FALSE(ParseOrDie(filter + ", \"g\": 1}", context).Matches(Json(document + "}")));
}

}  // namespace
}  // namespace evenkeel::query::match
