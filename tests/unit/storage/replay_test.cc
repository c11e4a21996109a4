// Recovery from the log.
#include "storage/replay.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "storage/batch_codec.h"
#include "tests/lib/fake_shard_log.h"

namespace evenkeel::storage {
namespace {

std::string PutPayload(uint64_t timestamp, const std::string& key, const std::string& value) {
  BatchWriter writer;
  writer.ClockBound(Timestamp{timestamp + 1000});
  writer.Unit(Timestamp{timestamp});
  writer.Put(Table::kDocs, key, value);
  writer.Counter("c", {static_cast<int64_t>(timestamp), 0});
  return writer.Take();
}

class ReplayTest : public testing::Test {
 protected:
  static std::shared_ptr<const View> EmptyView() {
    auto view = std::make_shared<View>();
    view->tables = std::make_shared<TableList>();
    return view;
  }
  void Append(std::string payload, uint64_t timestamp) {
    log_.Append({.index = LogIndex{++last_},
                 .first_timestamp = Timestamp{timestamp},
                 .last_timestamp = Timestamp{timestamp},
                 .payload = std::move(payload)});
  }
  absl::StatusOr<Replayed> Replay(uint64_t from, size_t table_bytes_max = 1 << 20) {
    log_.WaitUntilIdle();
    views_.StartAt(LogIndex{from}, Timestamp{});
    full_ = 0;
    return ReplayLog(&log_, LogIndex{from}, table_bytes_max, &views_, [this] {
      ++full_;
      return absl::OkStatus();
    });
  }

  tests::FakeShardLog log_;
  uint64_t last_ = 0;
  int full_ = 0;
  ViewPublisher views_{EmptyView()};
};

TEST_F(ReplayTest, AppliesWhatIsBehindThePosition) {
  for (uint64_t i = 1; i <= 4; ++i)
    Append(PutPayload(i * 10, "k" + std::to_string(i), "v"), i * 10);
  const auto replayed = Replay(2);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->last, LogIndex{4});
  EXPECT_EQ(replayed->latest, Timestamp{40});
  EXPECT_EQ(replayed->clock_bound, Timestamp{1040});
  const auto view = views_.Current();
  EXPECT_EQ(view->index, LogIndex{4});
  const MemTable& table = *view->tables->entries.back().table;
  EXPECT_EQ(table.list(Table::kDocs).Find("k2"), nullptr);
  EXPECT_EQ(table.list(Table::kDocs).Find("k3")->newest()->stamp, 30u);
  EXPECT_EQ(table.list(Table::kCounters).Find("c")->NewestAt(3)->stamp, 3u)
      << "counters by log index";
  EXPECT_EQ(table.first_index(), LogIndex{3});
  EXPECT_EQ(table.last_index(), LogIndex{4});
}

TEST_F(ReplayTest, TablesAreFrozenAsTheyFillUp) {
  for (uint64_t i = 1; i <= 20; ++i)
    Append(PutPayload(i, "k" + std::to_string(i), std::string(1000, 'v')), i);
  ASSERT_TRUE(Replay(0, 5000).ok());
  EXPECT_GT(full_, 2);
  uint64_t next = 1;
  for (const auto& entry : views_.Current()->tables->entries) {
    EXPECT_EQ(entry.table->first_index().value, next);
    next = entry.table->last_index().value + 1;
  }
  EXPECT_EQ(next, 21u);
}

TEST_F(ReplayTest, AnEmptyLogIsFine) {
  const auto replayed = Replay(0);
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(replayed->last, LogIndex{0});
}

TEST_F(ReplayTest, RefusesALogThatDoesNotFit) {
  for (uint64_t i = 1; i <= 4; ++i) Append(PutPayload(i, "k", "v"), i);
  EXPECT_EQ(CodeOf(Replay(9).status()), ErrorCode::kUnknownError) << "LMDB is ahead of the log";
  log_.Forget(LogIndex{2});
  EXPECT_EQ(CodeOf(Replay(1).status()), ErrorCode::kUnknownError) << "entries are missing";
  EXPECT_TRUE(Replay(2).ok());
}

TEST_F(ReplayTest, NamesADamagedEntry) {
  Append(PutPayload(1, "k", "v"), 1);
  Append(std::string("\x01\x63", 2), 2);
  const auto replayed = Replay(0);
  EXPECT_FALSE(replayed.ok());
  EXPECT_NE(MessageOf(replayed.status()).find("log entry 2"), std::string_view::npos);
}

}  // namespace
}  // namespace evenkeel::storage
