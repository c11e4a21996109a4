// Who holds which key, and who waits for it.
#include "shard/commit/intents.h"

#include <gtest/gtest.h>

#include <memory>

namespace evenkeel::shard {
namespace {

using storage::Table;

TEST(Intents, AKeyHasOneHolderUntilItIsReleased) {
  Intents intents;
  const auto a = std::make_shared<Transaction>(), b = std::make_shared<Transaction>();
  EXPECT_TRUE(intents.empty());
  intents.Take(a, Table::kDocs, "k");
  intents.Take(a, Table::kDocs, "k");
  intents.Take(b, Table::kIndex, "k");  // another table, another key
  EXPECT_EQ(intents.Holder(Table::kDocs, "k"), a);
  EXPECT_EQ(intents.Holder(Table::kIndex, "k"), b);
  EXPECT_EQ(intents.Holder(Table::kDocs, "other"), nullptr);
  EXPECT_EQ(a->done.claims.size(), 1u);
  intents.Release(*a);
  EXPECT_EQ(intents.Holder(Table::kDocs, "k"), nullptr);
  EXPECT_EQ(intents.Holder(Table::kIndex, "k"), b);
  intents.Release(*b);
  EXPECT_TRUE(intents.empty());
}

TEST(Intents, PreparedOnesTakeTheirKeysAgain) {
  Intents intents;
  const auto a = std::make_shared<Transaction>();
  a->done.claims = {{Table::kDocs, "x"}, {Table::kIndex, "y"}};
  intents.TakeAgain(a);
  EXPECT_EQ(intents.Holder(Table::kDocs, "x"), a);
  EXPECT_EQ(intents.Holder(Table::kIndex, "y"), a);
  intents.Release(*a);
  EXPECT_TRUE(intents.empty());
}

TEST(Intents, APlaceInLineLastsAsLongAsItIsKept) {
  Intents intents;
  EXPECT_FALSE(intents.IsWaitedFor(Table::kDocs, "k"));
  Intents::Place first = intents.WaitFor(Table::kDocs, "k");
  Intents::Place second = intents.WaitFor(Table::kDocs, "k");
  EXPECT_TRUE(intents.IsWaitedFor(Table::kDocs, "k"));
  EXPECT_FALSE(intents.IsWaitedFor(Table::kDocs, "other"));
  first = nullptr;
  EXPECT_TRUE(intents.IsWaitedFor(Table::kDocs, "k"));
  second = nullptr;
  EXPECT_FALSE(intents.IsWaitedFor(Table::kDocs, "k"));
}

}  // namespace
}  // namespace evenkeel::shard
