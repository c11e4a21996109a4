// The list of open transactions.
#include "router/transaction/open_transactions.h"

#include <gtest/gtest.h>

namespace evenkeel::router {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1000);

std::shared_ptr<ClientTransaction> Begun(absl::Time at) {
  auto transaction =
      std::make_shared<ClientTransaction>(std::string(16, 'a'), TxnNumber{1}, Timestamp{});
  transaction->BeginStatement(at);
  return transaction;
}

TEST(OpenTransactions, AreListedUntilTheyAreOverOrTooOld) {
  OpenTransactions open;
  const auto first = Begun(kNow), second = Begun(kNow + absl::Seconds(30));
  open.Add(first);
  open.Add(second);
  EXPECT_EQ(open.List(kNow + absl::Seconds(60)).size(), 2u);
  EXPECT_EQ(open.List(kNow + absl::Seconds(61)).size(), 1u);
  open.Remove(second);
  open.Remove(second);
  EXPECT_TRUE(open.List(kNow).empty());
}

TEST(OpenTransactions, TimeOfStatementsIsActive) {
  const auto transaction = Begun(kNow);
  EXPECT_TRUE(transaction->times().has_statement());
  transaction->EndStatement(kNow + absl::Seconds(2));
  transaction->BeginStatement(kNow + absl::Seconds(10));
  transaction->EndStatement(kNow + absl::Seconds(13));
  const ClientTransaction::Times times = transaction->times();
  EXPECT_EQ(times.begun, kNow);
  EXPECT_EQ(times.active, absl::Seconds(5));
  EXPECT_FALSE(times.has_statement());
}

TEST(OpenTransactions, CursorsAreTakenOnce) {
  const auto transaction = Begun(kNow);
  transaction->NoteCursor(CursorId{5});
  EXPECT_EQ(transaction->TakeCursors(), std::vector<CursorId>{CursorId{5}});
  EXPECT_TRUE(transaction->TakeCursors().empty());
}

}  // namespace
}  // namespace evenkeel::router
