// Rows of transactions: what is written comes back, damaged ones are refused.
#include "txn/transaction_record.h"

#include <gtest/gtest.h>

#include <string>

#include "base/status.h"
#include "txn/retry_record.h"

namespace evenkeel::txn {
namespace {

using storage::Table;

const TransactionId kId{std::string("0123456789abcdef"), TxnNumber{7}};

PreparedTransaction Example(size_t documents) {
  PreparedTransaction out;
  out.id = kId;
  out.coordinator = ShardId{2};
  out.read_at = Timestamp::FromParts(100, 3);
  out.collections = {{CollectionId{1000}, CatalogVersion{4}}};
  out.claims = {{Table::kDocs, std::string("k\0ey", 4)}, {Table::kIndex, "prefix"}};
  out.counters = {{"counter", {-2, 40}}};
  for (size_t i = 0; i < documents; ++i) {
    out.effects.Put(Table::kDocs, "document" + std::to_string(i), std::string(5000, 'x'));
  }
  out.effects.Put(Table::kIndex, "empty", "");
  out.effects.Remove(Table::kIndex, "gone");
  return out;
}

TEST(PreparedRows, ComeBackAsTheyWere) {
  for (const size_t documents : {0u, 1u, 200u}) {
    const PreparedTransaction written = Example(documents);
    const std::vector<std::string> rows = EncodePrepared(written);
    EXPECT_EQ(rows.size() > 1, documents == 200);
    for (const std::string& row : rows) EXPECT_LT(row.size(), 2 * kPartBytes);
    const auto read = DecodePrepared(rows);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->coordinator, written.coordinator);
    EXPECT_EQ(read->read_at, written.read_at);
    EXPECT_EQ(read->collections, written.collections);
    EXPECT_EQ(read->claims, written.claims);
    EXPECT_EQ(read->counters, written.counters);
    EXPECT_EQ(read->effects.effects(Table::kDocs).size(), documents);
    EXPECT_EQ(*read->effects.Find(Table::kIndex, "empty")->value, "");
    EXPECT_EQ(read->effects.Find(Table::kIndex, "gone")->value, nullptr);
  }
}

TEST(PreparedRows, DamagedOnesAreRefused) {
  std::vector<std::string> rows = EncodePrepared(Example(1));
  EXPECT_FALSE(DecodePrepared({}).ok());
  EXPECT_FALSE(DecodePrepared({""}).ok());
  rows[0].resize(rows[0].size() - 1);
  EXPECT_EQ(CodeOf(DecodePrepared(rows).status()), ErrorCode::kInvalidBSON);
}

TEST(TransactionKeys, NameTheirTransaction) {
  const std::string prepared = PreparedKey(kId, 300), decision = DecisionKey(kId);
  EXPECT_TRUE(IsPreparedKey(prepared));
  EXPECT_FALSE(IsPreparedKey(decision));
  EXPECT_TRUE(IsDecisionKey(decision));
  EXPECT_EQ(IdOfKey(prepared), kId);
  EXPECT_EQ(IdOfKey(decision), kId);
  EXPECT_LT(PreparedKey(kId, 255), prepared);
  // Retryable writes' rows lie beside them and are none.
  EXPECT_FALSE(IsRetryRecordKey(prepared));
  EXPECT_FALSE(IsRetryRecordKey(decision));
  EXPECT_TRUE(IsRetryRecordKey(NewestRecordKey(kId.lsid)));
  EXPECT_FALSE(IsPreparedKey(NewestRecordKey(kId.lsid)));
}

TEST(DecisionRows, ComeBackAsTheyWere) {
  const Decision written{Timestamp::FromParts(5, 6), {ShardId{1}, ShardId{9}}};
  const auto read = DecodeDecision(EncodeDecision(written));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->committed_at, written.committed_at);
  EXPECT_EQ(read->participants, written.participants);
  EXPECT_FALSE(DecodeDecision("").ok());
  EXPECT_FALSE(DecodeDecision("\x05\0\0\0").ok());
}

}  // namespace
}  // namespace evenkeel::txn
