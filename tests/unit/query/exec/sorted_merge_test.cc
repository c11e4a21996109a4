// Merging of several streams.
#include "query/exec/sorted_merge.h"

#include "query/exec/sort_key.h"
#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

Row Keyed(int key, int source) {
  bson::Builder builder;
  builder.Append("k", key).Append("s", source);
  builder.OpenArray("$sortKey").Append("0", key).Close();
  return Row::Own(builder.Finish());
}

TEST(SortedMerge, WaitsForEveryInputAndKeepsTheOrder) {
  const absl::StatusOr<SortPattern> pattern =
      SortPattern::Parse(expr::FromJsonOrDie(R"({"k": 1})"));
  InputQueue a, b;
  SortedMerge merge({&a, &b}, *pattern, nullptr);
  Batch batch;
  a.Push(Keyed(1, 0));
  a.Push(Keyed(3, 0));
  EXPECT_EQ(*merge.Pull(&batch), Step::kNeedInput) << "b may still bring something lower";
  b.Push(Keyed(1, 1));
  b.Push(Keyed(2, 1));
  EXPECT_EQ(*merge.Pull(&batch), Step::kRows);
  EXPECT_EQ(*merge.Pull(&batch), Step::kNeedInput);
  b.Finish();
  EXPECT_EQ(*merge.Pull(&batch), Step::kRows);
  a.Finish();
  EXPECT_EQ(*merge.Pull(&batch), Step::kEnd);
  std::vector<bson::Document> rows;
  for (const Row& row : batch) rows.emplace_back(row.view);
  EXPECT_EQ(Json(rows), JsonLines(R"([{"k": 1, "s": 0}, {"k": 1, "s": 1}, {"k": 2, "s": 1},
                                      {"k": 3, "s": 0}])"));
}

TEST(SortedMerge, DescendingAndMany) {
  const absl::StatusOr<SortPattern> pattern =
      SortPattern::Parse(expr::FromJsonOrDie(R"({"k": -1})"));
  std::vector<InputQueue> queues(5);
  std::vector<Operator*> inputs;
  for (InputQueue& queue : queues) inputs.push_back(&queue);
  for (int key = 999; key >= 0; --key) queues[static_cast<size_t>(key * 7 % 5)].Push(Keyed(key, 0));
  for (InputQueue& queue : queues) queue.Finish();
  SortedMerge merge(inputs, *pattern, nullptr);
  const absl::StatusOr<std::vector<bson::Document>> rows = RunToEnd(merge);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 1000u);
  for (size_t i = 0; i < rows->size(); ++i) {
    ASSERT_EQ((*rows)[i]["k"].AsInt32(), 999 - static_cast<int>(i));
    ASSERT_FALSE((*rows)[i].view().Contains(kSortKeyField));
  }
}

TEST(UnorderedMerge, TakesWhatIsThere) {
  InputQueue a, b;
  UnorderedMerge merge({&a, &b});
  Batch batch;
  EXPECT_EQ(*merge.Pull(&batch), Step::kNeedInput);
  b.Push(Row::Own(expr::Wrap("1")));
  EXPECT_EQ(*merge.Pull(&batch), Step::kRows) << "although a is empty";
  a.Finish();
  EXPECT_EQ(*merge.Pull(&batch), Step::kNeedInput);
  b.Push(Row::Own(expr::Wrap("2")));
  b.Finish();
  EXPECT_EQ(*merge.Pull(&batch), Step::kRows);
  EXPECT_EQ(*merge.Pull(&batch), Step::kEnd);
  EXPECT_EQ(batch.size(), 2u);
}

}  // namespace
}  // namespace evenkeel::query
