// Segments: the header, the index of contents, reading records one after another.
#include "storage/log/segment.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/unit/storage/log/log_test_lib.h"

namespace evenkeel::storage {
namespace {

std::unique_ptr<LogSegment> MakeSegment(tests::SimulatedFileSystem* files, uint64_t bytes) {
  auto file = *files->Open("f", /*create=*/true);
  EXPECT_TRUE(file->Allocate(bytes).ok());
  return std::make_unique<LogSegment>(LogSegmentHeader{.number = 5, .salt = 77}, "f",
                                      std::move(file));
}

LogRecord EntryRecord(uint32_t shard, uint64_t index, uint32_t seconds,
                      std::string_view payload = {}) {
  return {.shard = {shard},
          .index = {index},
          .last_timestamp = Timestamp::FromParts(seconds, 0),
          .payload = payload};
}

TEST(LogSegmentHeader, RoundTrips) {
  const std::string bytes = EncodeLogSegmentHeader(12, 34);
  EXPECT_EQ(bytes.size(), kLogFirstRecordOffset);
  const auto header = DecodeLogSegmentHeader(bytes);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->number, 12u);
  EXPECT_EQ(header->salt, 34u);
}

TEST(LogSegmentHeader, DamageIsNoticed) {
  const std::string bytes = EncodeLogSegmentHeader(12, 34);
  for (size_t at = 0; at < 32; ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    EXPECT_EQ(CodeOf(DecodeLogSegmentHeader(changed).status()), ErrorCode::kUnknownError) << at;
  }
  EXPECT_FALSE(DecodeLogSegmentHeader(bytes.substr(0, 10)).ok());
}

TEST(LogSegment, MarksAreFarApartAndKnowTheirHighestTimestamp) {
  tests::SimulatedFileSystem files(1);
  const auto segment = MakeSegment(&files, 4096);
  EXPECT_EQ(segment->Find({1}), nullptr);
  segment->NoteEntry(EntryRecord(1, 10, 5), 600);
  segment->NoteEntry(EntryRecord(1, 11, 9), 700);
  segment->NoteEntry(EntryRecord(2, 1, 3), 800);
  segment->NoteEntry(EntryRecord(1, 12, 7), 600 + kLogMarkBytes);
  const LogSegmentShard* part = segment->Find({1});
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->first, LogIndex{10});
  EXPECT_EQ(part->last, LogIndex{12});
  ASSERT_EQ(part->marks.size(), 2u);
  EXPECT_EQ(part->marks[0].highest, Timestamp::FromParts(9, 0));
  EXPECT_EQ(part->marks[1].highest, Timestamp::FromParts(7, 0));
  EXPECT_EQ(part->MarkBefore({11}).offset, 600u);
  EXPECT_EQ(part->MarkBefore({12}).offset, 600 + kLogMarkBytes);
  EXPECT_EQ(part->MarkBefore({99}).offset, 600 + kLogMarkBytes);
  EXPECT_EQ(segment->highest(), Timestamp::FromParts(9, 0));
}

TEST(LogSegmentReader, ReadsUpToTheFirstPlaceWithoutARecord) {
  tests::SimulatedFileSystem files(1);
  const auto segment = MakeSegment(&files, 256 << 10);
  std::string bytes;
  for (uint64_t i = 1; i <= 50; ++i) {
    const std::string payload(i * 100, 'x');
    AppendLogRecord(EntryRecord(0, i, 1, payload), LogPayloadChecksum(payload),
                    segment->At(kLogFirstRecordOffset + bytes.size()), segment->salt(), &bytes);
  }
  ASSERT_TRUE(segment->file().WriteAt(kLogFirstRecordOffset, bytes).ok());
  LogSegmentReader reader(segment.get(), kLogFirstRecordOffset);
  for (uint64_t i = 1; i <= 50; ++i) {
    const auto record = reader.Next();
    ASSERT_TRUE(record.ok() && record->has_value()) << i;
    EXPECT_EQ((*record)->index, LogIndex{i});
    EXPECT_EQ((*record)->payload.size(), i * 100);
  }
  const auto end = reader.Next();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
  EXPECT_EQ(reader.offset(), kLogFirstRecordOffset + bytes.size());
}

TEST(LogSegmentReader, StopsAtTheEndOfTheFile) {
  tests::SimulatedFileSystem files(1);
  const size_t payload_bytes = 1000;
  const auto segment = MakeSegment(&files, kLogFirstRecordOffset + LogRecordBytes(payload_bytes));
  std::string bytes;
  const std::string payload(payload_bytes, 'x');
  AppendLogRecord(EntryRecord(0, 1, 1, payload), LogPayloadChecksum(payload),
                  segment->At(kLogFirstRecordOffset), segment->salt(), &bytes);
  ASSERT_TRUE(segment->file().WriteAt(kLogFirstRecordOffset, bytes).ok());
  LogSegmentReader reader(segment.get(), kLogFirstRecordOffset);
  EXPECT_TRUE((*reader.Next()).has_value());
  EXPECT_FALSE((*reader.Next()).has_value());
}

}  // namespace
}  // namespace evenkeel::storage
