// $count's operator.
#include "query/exec/count.h"

#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

TEST(CountOperator, CountsRowsAndAddsCounts) {
  const struct {
    std::string_view input;
    bool of_counts;
    std::string_view output;
  } cases[] = {
      {R"([{"a": 1}, {"a": 2}])", false, R"([{"n": 2}])"},
      {"[]", false, "[]"},
      {R"([{"n": 3}, {"n": {"$numberLong": "4"}}])", true, R"([{"n": 7}])"},
      {R"([{"n": {"$numberLong": "3000000000"}}])", true,
       R"([{"n": {"$numberLong": "3000000000"}}])"},
  };
  for (const auto& test : cases) {
    const std::vector<bson::Document> input = Documents(test.input);
    CountOperator chain(Queue(input), "n", test.of_counts);
    EXPECT_EQ(RunJson(chain), JsonLines(test.output)) << test.input;
  }
}

}  // namespace
}  // namespace evenkeel::query
