// The driver's queue and how operators ask for input.
#include "query/exec/operator.h"

#include "query/exec/streaming.h"
#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

TEST(InputQueue, AsksForInputUntilFinished) {
  const std::vector<bson::Document> documents = Documents(R"([{"a": 1}])");
  InputQueue queue;
  Batch batch;
  EXPECT_EQ(*queue.Pull(&batch), Step::kNeedInput);
  queue.Push(Row::Borrow(documents[0]));
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(*queue.Pull(&batch), Step::kRows);
  EXPECT_EQ(*queue.Pull(&batch), Step::kNeedInput);
  queue.Finish();
  EXPECT_EQ(*queue.Pull(&batch), Step::kEnd);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].view.data(), documents[0].view().data()) << "borrowed, not copied";
}

TEST(Row, OwnsItsBytesAfterMakeOwned) {
  Row row;
  {
    const bson::Document document = expr::Wrap("1");
    row = Row::Borrow(document);
    row.MakeOwned();
  }
  Row moved = std::move(row);
  EXPECT_EQ(moved.view["v"].AsInt32(), 1);
}

TEST(RunToEnd, RefusesUnfinishedInput) {
  InputQueue queue;
  EXPECT_EQ(RunJson(queue), "error 1");
}

TEST(Operators, PassTheWishForInputOn) {
  auto queue = std::make_unique<InputQueue>();
  InputQueue* input = queue.get();
  LimitOperator limit(std::move(queue), 2);
  Batch batch;
  EXPECT_EQ(*limit.Pull(&batch), Step::kNeedInput);
  input->Push(Row::Own(expr::Wrap("1")));
  EXPECT_EQ(*limit.Pull(&batch), Step::kRows);
  EXPECT_EQ(*limit.Pull(&batch), Step::kNeedInput);
  for (int i = 0; i < 3; ++i) input->Push(Row::Own(expr::Wrap("2")));
  EXPECT_EQ(*limit.Pull(&batch), Step::kRows);
  EXPECT_EQ(*limit.Pull(&batch), Step::kEnd) << "enough, though the input is not finished";
  EXPECT_EQ(batch.size(), 2u);
}

}  // namespace
}  // namespace evenkeel::query
