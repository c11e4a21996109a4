// How many transactions are open, and what is remembered of those that are not.
#include "shard/commit/transaction_table.h"

#include <gtest/gtest.h>

#include <string>

#include "base/status.h"

namespace evenkeel::shard {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1000);

txn::TransactionId Id(size_t session, int64_t number = 1) {
  std::string lsid = std::to_string(session);
  lsid.resize(16, 'x');
  return {std::move(lsid), TxnNumber{number}};
}

class TransactionTableTest : public testing::Test {
 protected:
  absl::StatusOr<std::shared_ptr<Transaction>> Begin(
      txn::TransactionId id, TransactionKind kind = TransactionKind::kClients) {
    return table_.Begin(std::move(id), {}, nullptr, kind, kNow, &superseded_);
  }
  std::shared_ptr<Transaction> BeginSnapshot(size_t session, absl::Time now = kNow) {
    superseded_ = nullptr;
    return table_.BeginSnapshot(Id(session), {}, nullptr, now, &superseded_);
  }

  TransactionTable table_;
  std::shared_ptr<Transaction> superseded_;
};

TEST_F(TransactionTableTest, ANumberIsUsedOnce) {
  const auto first = Begin(Id(1));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(table_.Find(Id(1)), *first);
  table_.Remove(**first);
  EXPECT_EQ(table_.Find(Id(1)), nullptr);
  EXPECT_EQ(CodeOf(Begin(Id(1)).status()), ErrorCode::kNoSuchTransaction);
  EXPECT_TRUE(Begin(Id(1, 2)).ok());
  EXPECT_EQ(CodeOf(Begin(Id(1, 1)).status()), ErrorCode::kTransactionTooOld);
}

TEST_F(TransactionTableTest, TheNextOneOfASessionSupersedesTheOneBefore) {
  const auto first = Begin(Id(1));
  EXPECT_TRUE(Begin(Id(1, 2)).ok());
  EXPECT_EQ(superseded_, *first);
  EXPECT_EQ(table_.Find(Id(1)), *first) << "until it is over";
}

TEST_F(TransactionTableTest, OnesOfStatementsLeaveNothing) {
  const auto own = Begin(Id(1), TransactionKind::kStatement);
  ASSERT_TRUE(own.ok());
  table_.Remove(**own);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_TRUE(Begin(Id(1), TransactionKind::kStatement).ok()) << "nothing is known of it";
}

TEST_F(TransactionTableTest, SnapshotsDoNotCountAsTransactions) {
  for (size_t i = 0; i < TransactionTable::kSnapshotsMax; ++i) BeginSnapshot(i);
  EXPECT_EQ(superseded_, nullptr);
  EXPECT_EQ(table_.snapshot_count(), TransactionTable::kSnapshotsMax);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_TRUE(Begin(Id(999'999)).ok());
}

TEST_F(TransactionTableTest, TheSnapshotUnusedForLongestMakesRoom) {
  const auto oldest = BeginSnapshot(0), next = BeginSnapshot(1);
  for (size_t i = 2; i < TransactionTable::kSnapshotsMax; ++i) BeginSnapshot(i);
  table_.Use(*oldest, kNow + absl::Seconds(1));
  BeginSnapshot(1'000'000);
  EXPECT_EQ(superseded_, next);
  table_.Remove(*next);
  table_.Remove(*next);
  EXPECT_EQ(table_.snapshot_count(), TransactionTable::kSnapshotsMax);
  EXPECT_EQ(table_.Find(Id(1)), nullptr);
  // One that cannot be ended at once does not stand in the way.
  BeginSnapshot(1'000'001);
  const auto stuck = superseded_;
  BeginSnapshot(1'000'002);
  EXPECT_NE(superseded_, stuck);
}

TEST_F(TransactionTableTest, AllAreListed) {
  ASSERT_TRUE(Begin(Id(1)).ok());
  BeginSnapshot(2);
  EXPECT_EQ(table_.All().size(), 2u);
}

TEST_F(TransactionTableTest, TransactionsAreBounded) {
  for (size_t i = 0; i < TransactionTable::kCountMax; ++i) ASSERT_TRUE(Begin(Id(i)).ok());
  EXPECT_EQ(CodeOf(Begin(Id(1'000'000)).status()), ErrorCode::kExceededTimeLimit);
  BeginSnapshot(2'000'000);
  EXPECT_EQ(superseded_, nullptr);
}

}  // namespace
}  // namespace evenkeel::shard
