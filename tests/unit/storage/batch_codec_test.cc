// The payload of log entries: round trip, cut off anywhere, unknown records.
#include "storage/batch_codec.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/status.h"

namespace evenkeel::storage {
namespace {

std::string Sample() {
  BatchWriter writer;
  writer.ClockBound(Timestamp{99});
  writer.Unit(Timestamp{7});
  writer.Put(Table::kDocs, "key", std::string(300, 'v'));
  writer.Put(Table::kIndex, "i", "");
  writer.Unit(Timestamp{8});
  writer.Remove(Table::kSessions, "gone");
  writer.RemoveRange(Table::kDocs, {"a", "", {-7, 8}});
  writer.Counter("c", {5, -600});
  return writer.Take();
}

TEST(BatchCodec, ReadsWhatWasWritten) {
  const std::string payload = Sample();
  BatchReader reader(payload);
  std::vector<BatchRecord> records;
  BatchRecord record;
  for (auto more = reader.Next(&record); more.ok() && *more; more = reader.Next(&record))
    records.push_back(record);
  ASSERT_EQ(records.size(), 8u);
  EXPECT_EQ(records[0].kind, BatchRecordKind::kClockBound);
  EXPECT_EQ(records[0].timestamp, Timestamp{99});
  EXPECT_EQ(records[2].kind, BatchRecordKind::kPut);
  EXPECT_EQ(records[2].table, Table::kDocs);
  EXPECT_EQ(records[2].key, "key");
  EXPECT_EQ(records[2].value, std::string(300, 'v'));
  EXPECT_EQ(records[2].timestamp, Timestamp{7});
  EXPECT_EQ(records[3].value, "");
  EXPECT_EQ(records[5].kind, BatchRecordKind::kRemove);
  EXPECT_EQ(records[5].timestamp, Timestamp{8});
  EXPECT_EQ(records[6].kind, BatchRecordKind::kRemoveRange);
  EXPECT_EQ(records[6].key, "a");
  EXPECT_EQ(records[6].hashes, (HashSpan{-7, 8}));
  EXPECT_EQ(records[7].count, (Count{5, -600}));
}

TEST(BatchCodec, NoCutMakesItReadBeyondTheEnd) {
  const std::string whole = Sample();
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    BatchReader reader(cut);
    BatchRecord record;
    auto more = reader.Next(&record);
    while (more.ok() && *more) more = reader.Next(&record);
    EXPECT_TRUE(!more.ok() || !*more);
  }
}

struct BadCase {
  const char* name;
  std::string payload;
};

TEST(BatchCodec, RefusesWhatItDoesNotKnow) {
  const BadCase cases[] = {
      {"another format", std::string("\x02\x01", 2)},
      {"unknown record", std::string("\x01\x63", 2)},
      {"reserved record", std::string("\x01\x07", 2)},
      {"unknown table", std::string("\x01\x03\x09\x01k", 5)},
      {"length beyond the end", std::string("\x01\x03\x00\x7fk", 5)},
      {"endless length", std::string("\x01\x03\x00", 3) + std::string(12, '\xff')},
  };
  for (const BadCase& bad : cases) {
    BatchReader reader(bad.payload);
    BatchRecord record;
    const auto more = reader.Next(&record);
    EXPECT_EQ(CodeOf(more.status()), ErrorCode::kOperationFailed) << bad.name;
  }
}

TEST(BatchCodec, WhatIsCutOffIsGone) {
  BatchWriter writer;
  EXPECT_TRUE(writer.empty());
  writer.Unit(Timestamp{1});
  const size_t mark = writer.size();
  writer.Put(Table::kDocs, "a", "b");
  writer.CutTo(mark);
  const std::string kept = writer.Take();
  EXPECT_EQ(kept.size(), mark);
  EXPECT_TRUE(writer.empty());
}

}  // namespace
}  // namespace evenkeel::storage
