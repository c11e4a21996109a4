// $sample's operator.
#include "query/exec/sample.h"

#include <set>

#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

std::set<int> Sampled(const std::vector<bson::Document>& input, int64_t size) {
  const QueryContext context;
  SampleOperator chain(Queue(input), size, false, context);
  const std::vector<bson::Document> rows = *RunToEnd(chain);
  std::set<int> values;
  for (const bson::Document& row : rows) values.insert(row["v"].AsInt32());
  return values;
}

TEST(SampleOperator, GivesDifferentRowsOfTheWantedNumber) {
  std::vector<bson::Document> input;
  for (int i = 0; i < 50; ++i) input.push_back(expr::Wrap(std::to_string(i)));
  EXPECT_EQ(Sampled(input, 10).size(), 10u);
  EXPECT_EQ(Sampled(input, 100).size(), 50u);
  std::set<int> seen;
  for (int round = 0; round < 200; ++round) seen.merge(Sampled(input, 5));
  EXPECT_EQ(seen.size(), 50u) << "every row has a chance";
}

TEST(SampleOperator, KeysAreInOrder) {
  const QueryContext context;
  std::vector<bson::Document> input;
  for (int i = 0; i < 50; ++i) input.push_back(expr::Wrap(std::to_string(i)));
  SampleOperator chain(Queue(input), 20, true, context);
  const std::vector<bson::Document> rows = *RunToEnd(chain);
  double last = -1;
  for (const bson::Document& row : rows) {
    const double key = row["$sortKey"].AsDocument()["0"].AsDouble();
    EXPECT_GE(key, last);
    last = key;
  }
}

}  // namespace
}  // namespace evenkeel::query
