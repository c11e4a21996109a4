// Log records: checksum, round trip, and that nothing but the whole record at its place passes.
#include "storage/log/record.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace evenkeel::storage {
namespace {

constexpr uint64_t kSalt = 0x1234567890ABCDEF;
constexpr LogPosition kPlace = LogPosition::At(7, 4096);

LogRecord SampleRecord(std::string_view payload) {
  return {.kind = LogRecordKind::kEntry,
          .shard = {3},
          .index = {99},
          .term = 5,
          .first_timestamp = Timestamp::FromParts(10, 1),
          .last_timestamp = Timestamp::FromParts(11, 2),
          .durable = LogPosition::At(7, 1024),
          .payload = payload};
}

std::string Encode(const LogRecord& record) {
  std::string bytes;
  AppendLogRecord(record, LogPayloadChecksum(record.payload), kPlace, kSalt, &bytes);
  return bytes;
}

TEST(Crc32c, KnownVectors) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
}

TEST(LogPosition, OrdersBySegmentThenOffset) {
  EXPECT_LT(LogPosition::At(1, 0xFFFFFFFF), LogPosition::At(2, 0));
  EXPECT_LT(LogPosition::At(2, 8), LogPosition::At(2, 16));
  EXPECT_EQ(LogPosition::At(9, 24).segment(), 9u);
  EXPECT_EQ(LogPosition::At(9, 24).offset(), 24u);
}

TEST(LogRecord, RoundTripsPayloadsOfAnyLength) {
  base::Random random(1);
  for (const size_t length : {0u, 1u, 7u, 8u, 9u, 1000u, 70000u}) {
    const std::string payload = random.Bytes(length);
    const std::string bytes = Encode(SampleRecord(payload));
    EXPECT_EQ(bytes.size(), LogRecordBytes(length));
    EXPECT_EQ(bytes.size() % kLogRecordAlignment, 0u);
    EXPECT_EQ(LogRecordBytesAt(bytes, kPlace, kSalt), bytes.size());
    const auto record = DecodeLogRecord(bytes, kPlace, kSalt);
    ASSERT_TRUE(record.has_value()) << length;
    EXPECT_EQ(record->payload, payload);
    EXPECT_EQ(record->kind, LogRecordKind::kEntry);
    EXPECT_EQ(record->shard, ShardId{3});
    EXPECT_EQ(record->index, LogIndex{99});
    EXPECT_EQ(record->term, 5u);
    EXPECT_EQ(record->first_timestamp, Timestamp::FromParts(10, 1));
    EXPECT_EQ(record->last_timestamp, Timestamp::FromParts(11, 2));
    EXPECT_EQ(record->durable, LogPosition::At(7, 1024));
  }
}

TEST(LogRecord, EveryChangedBitIsNoticed) {
  const std::string payload = "the payload of this record";
  const std::string bytes = Encode(SampleRecord(payload));
  for (size_t bit = 0; bit < (kLogRecordHeaderBytes + payload.size()) * 8; ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(DecodeLogRecord(changed, kPlace, kSalt).has_value()) << "bit " << bit;
  }
}

TEST(LogRecord, PassesOnlyAtItsPlace) {
  const std::string bytes = Encode(SampleRecord("payload"));
  EXPECT_FALSE(DecodeLogRecord(bytes, LogPosition::At(7, 4104), kSalt).has_value());
  EXPECT_FALSE(DecodeLogRecord(bytes, LogPosition::At(8, 4096), kSalt).has_value());
  EXPECT_FALSE(DecodeLogRecord(bytes, kPlace, kSalt + 1).has_value());
}

TEST(LogRecord, EveryShorterPieceIsRefused) {
  const std::string bytes = Encode(SampleRecord("payload of the record"));
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeLogRecord(std::string_view(bytes).substr(0, length), kPlace, kSalt))
        << length;
  }
}

TEST(LogRecord, ZerosAreNoRecord) {
  EXPECT_FALSE(DecodeLogRecord(std::string(4096, '\0'), kPlace, kSalt).has_value());
}

TEST(LogStart, RoundTrips) {
  const std::vector<LogShardStart> starts = {{{0}, {17}}, {{2}, {0}}, {{9}, {1ull << 40}}};
  const auto decoded = DecodeLogStart(EncodeLogStart(starts));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, starts);
  EXPECT_FALSE(DecodeLogStart("seven b").ok());
}

}  // namespace
}  // namespace evenkeel::storage
