// Tests of the keys and values of retryable-write rows.
#include "txn/retry_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/limits.h"
#include "base/status.h"

namespace evenkeel::txn {
namespace {

const std::string kLsid = "sixteen bytes id";

bson::OwnedValue Value(const std::string& json) {
  return bson::OwnedValue((*bson::FromJson("{\"v\": " + json + "}"))["v"]);
}

TEST(RetryRecordKey, OrderedByKindThenByStatement) {
  struct Key {
    RowKind kind;
    int32_t statement;
  };
  const Key ascending[] = {{RowKind::kSlice, INT32_MIN}, {RowKind::kSlice, -1},
                           {RowKind::kSlice, 0},         {RowKind::kSlice, 255},
                           {RowKind::kSlice, 256},       {RowKind::kSlice, INT32_MAX},
                           {RowKind::kStatement, 0},     {RowKind::kStatement, 7}};
  std::string before = NewestRecordKey(kLsid);
  for (const Key& key : ascending) {
    const std::string encoded = RetryRecordKey(kLsid, key.kind, key.statement);
    EXPECT_LT(before, encoded) << key.statement;
    EXPECT_EQ(LsidOfKey(encoded), kLsid);
    before = encoded;
  }
}

RetryRecord MakeRecord() {
  RetryRecord record;
  record.txn = TxnNumber{77};
  record.collection = CollectionId{1000};
  record.hash = -123456789012345;
  record.written_ms = 1'700'000'000'123;
  record.results.push_back({.statement = 0, .kind = StatementKind::kInsert, .matched = 1});
  record.results.push_back(
      {.statement = 4, .kind = StatementKind::kUpdate, .matched = 1, .modified = 1});
  record.results.push_back({.statement = 5,
                            .kind = StatementKind::kUpdate,
                            .matched = 1,
                            .upserted = Value(R"({"a": [1, "x"]})")});
  record.results.push_back({.statement = 9, .kind = StatementKind::kDelete, .matched = 1});
  record.results.push_back(
      {.statement = 70'000,
       .kind = StatementKind::kFindAndModify,
       .matched = 1,
       .reply = *bson::FromJson(R"({"lastErrorObject": {"n": 1}, "value": {"a": 1}})")});
  return record;
}

TEST(RetryRecord, SurvivesARoundTrip) {
  const RetryRecord before = MakeRecord();
  const std::string bytes = EncodeRetryRecord(before);
  const auto after = DecodeRetryRecord(bytes);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->txn, before.txn);
  EXPECT_EQ(after->collection, before.collection);
  EXPECT_EQ(after->hash, before.hash);
  EXPECT_EQ(after->written_ms, before.written_ms);
  ASSERT_EQ(after->results.size(), before.results.size());
  for (size_t i = 0; i < before.results.size(); ++i) {
    const StatementResult& a = after->results[i];
    const StatementResult& b = before.results[i];
    EXPECT_EQ(a.statement, b.statement) << i;
    EXPECT_EQ(a.kind, b.kind) << i;
    EXPECT_EQ(a.matched, b.matched) << i;
    EXPECT_EQ(a.modified, b.modified) << i;
    EXPECT_EQ(a.upserted.value().missing(), b.upserted.value().missing()) << i;
    EXPECT_EQ(a.upserted.value().Bytes(), b.upserted.value().Bytes()) << i;
    EXPECT_EQ(bson::ToCanonicalJson(a.reply), bson::ToCanonicalJson(b.reply)) << i;
  }
}

TEST(RetryRecord, KeyAndValueKnowTheLowestAndTheHighestStatement) {
  RetryRecord record;
  record.txn = TxnNumber{5};
  for (const int32_t statement : {30, 7, 50, 12})
    record.results.push_back({.statement = statement});
  EXPECT_EQ(RetryRecordKey(kLsid, record), RetryRecordKey(kLsid, RowKind::kSlice, 7));
  EXPECT_EQ(FactsOf(EncodeRetryRecord(record))->last_statement, 50);
  record.results.resize(1);
  EXPECT_EQ(RetryRecordKey(kLsid, record), RetryRecordKey(kLsid, RowKind::kStatement, 30));
  EXPECT_EQ(FactsOf(EncodeRetryRecord(record))->last_statement, 30);
  EXPECT_EQ(FactsOf(EncodeRetryRecord(record))->txn, TxnNumber{5});
  EXPECT_EQ(CodeOf(FactsOf("damaged").status()), ErrorCode::kInvalidBSON);
}

TEST(RetryRecord, AnUpsertedNullIsNotNothing) {
  RetryRecord record;
  record.results.push_back({.kind = StatementKind::kUpdate, .upserted = Value("null")});
  const auto after = DecodeRetryRecord(EncodeRetryRecord(record));
  ASSERT_TRUE(after.ok());
  EXPECT_TRUE(after->results[0].upserted.value().Is(bson::Type::kNull));
}

// A bulk insert's row costs little per statement: it must not double the load.
TEST(RetryRecord, ABulkInsertIsOneSmallRow) {
  RetryRecord record = MakeRecord();
  record.results.clear();
  for (int32_t i = 0; i < 512; ++i) {
    record.results.push_back({.statement = i, .kind = StatementKind::kInsert, .matched = 1});
  }
  EXPECT_LT(EncodeRetryRecord(record).size(), 512u * 32);
  EXPECT_EQ(DecodeRetryRecord(EncodeRetryRecord(record))->results.size(), 512u);
}

TEST(RetryRecord, DamagedRowsAreRefused) {
  const std::string cases[] = {
      "{}",
      R"({"x": {"$numberLong": "7"}, "c": {"$numberLong": "1"}})",
      R"({"x": {"$numberLong": "7"}, "c": 1, "h": {"$numberLong": "5"},
          "t": {"$date": "2024-01-01T00:00:00Z"}, "r": []})",
      R"({"x": {"$numberLong": "7"}, "c": {"$numberLong": "1"}, "h": "x", "t": {"$date": "2024-01-01T00:00:00Z"}, "r": []})",
      R"({"x": {"$numberLong": "7"}, "c": {"$numberLong": "1"}, "h": {"$numberLong": "5"},
          "t": {"$date": "2024-01-01T00:00:00Z"}, "r": [1]})",
      R"({"x": {"$numberLong": "7"}, "c": {"$numberLong": "1"}, "h": {"$numberLong": "5"},
          "t": {"$date": "2024-01-01T00:00:00Z"}, "r": [{"s": "x", "k": 1, "n": 1}]})",
      R"({"x": {"$numberLong": "7"}, "c": {"$numberLong": "1"}, "h": {"$numberLong": "5"},
          "t": {"$date": "2024-01-01T00:00:00Z"}, "r": [{"s": 1, "k": 77, "n": 1}]})",
  };
  for (const std::string& json : cases) {
    EXPECT_EQ(CodeOf(DecodeRetryRecord(bson::FromJson(json)->bytes()).status()),
              ErrorCode::kInvalidBSON)
        << json;
  }
  const std::string good = EncodeRetryRecord(MakeRecord());
  for (const size_t length : {size_t{0}, size_t{3}, size_t{4}, good.size() - 1}) {
    EXPECT_EQ(CodeOf(DecodeRetryRecord(good.substr(0, length)).status()), ErrorCode::kInvalidBSON)
        << length;
  }
}

TEST(RetryRecord, ExpiresAfterTheSessionTimeout) {
  const RetryRecord record = MakeRecord();
  const absl::Time written = absl::FromUnixMillis(record.written_ms);
  const absl::Duration timeout = absl::Minutes(limits::kSessionTimeoutMinutes);
  EXPECT_FALSE(IsExpired(record, written - absl::Hours(1)));
  EXPECT_FALSE(IsExpired(record, written));
  EXPECT_FALSE(IsExpired(record, written + timeout));
  EXPECT_TRUE(IsExpired(record, written + timeout + absl::Milliseconds(1)));
}

}  // namespace
}  // namespace evenkeel::txn
