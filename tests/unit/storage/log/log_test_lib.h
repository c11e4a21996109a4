// What the tests of the log share: options for small segments, entries, reading everything back.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "storage/log/shared_log.h"
#include "tests/lib/simulated_file_system.h"

namespace evenkeel::storage {

inline constexpr char kLogFolder[] = "data/log";

inline const base::FakeWallClock* TestClock() {
  static const base::FakeWallClock* const clock =
      new base::FakeWallClock(absl::FromUnixSeconds(1'000'000));
  return clock;
}

// Small segments and no threads: tests call StepForTest.
inline SharedLogOptions SmallLogOptions(FileSystem* file_system) {
  SharedLogOptions options;
  options.folder = kLogFolder;
  options.file_system = file_system;
  options.clock = TestClock();
  options.segment_bytes = 16 << 10;
  options.group_bytes_max = 4 << 10;
  options.ballast_bytes = 0;
  options.free_bytes_min = 0;
  options.retain_bytes = 1 << 20;
  options.retain_age = absl::InfiniteDuration();
  options.on_fatal = [](const absl::Status&) {};
  options.threads = false;
  return options;
}

inline std::unique_ptr<SharedLog> OpenLog(SharedLogOptions options, uint32_t shard_count = 1) {
  std::vector<ShardId> shards;
  for (uint32_t i = 0; i < shard_count; ++i) shards.push_back({i});
  auto log = SharedLog::Open(std::move(options), shards);
  EXPECT_TRUE(log.ok()) << log.status();
  return log.ok() ? *std::move(log) : nullptr;
}

// An entry whose timestamps are its index in seconds.
inline LogEntry MakeEntry(uint64_t index, std::string payload) {
  return {.index = {index},
          .term = 1,
          .first_timestamp = Timestamp::FromParts(static_cast<uint32_t>(index), 1),
          .last_timestamp = Timestamp::FromParts(static_cast<uint32_t>(index), 2),
          .payload = std::move(payload)};
}

// Entry `index` of a shard in tests that need many: its text says which it is.
inline LogEntry NumberedEntry(uint32_t shard, uint64_t index, size_t bytes) {
  std::string payload = fmt::format("shard {} entry {} ", shard, index);
  payload.resize(std::max(payload.size(), bytes), static_cast<char>('a' + index % 26));
  return MakeEntry(index, std::move(payload));
}

// Appends the entries [from, to] of a shard and writes them, a group each.
inline void AppendAndWrite(SharedLog* log, uint32_t shard, uint64_t from, uint64_t to,
                           size_t bytes = 100) {
  for (uint64_t index = from; index <= to; ++index) {
    ASSERT_TRUE(log->shard({shard})->Reserve(bytes).ok());
    log->shard({shard})->Append(NumberedEntry(shard, index, bytes));
    ASSERT_TRUE(log->StepForTest());
  }
}

// Everything from `from` on, read in pieces of `bytes_max`.
inline absl::StatusOr<std::vector<LogEntry>> ReadAll(ShardLog* log, LogIndex from,
                                                     size_t bytes_max = 1000) {
  std::vector<LogEntry> all;
  for (;;) {
    auto some = log->Read(from, bytes_max);
    if (!some.ok()) return some.status();
    if (some->empty()) return all;
    from.value += some->size();
    for (LogEntry& entry : *some) all.push_back(std::move(entry));
  }
}

inline std::vector<uint64_t> Indexes(const std::vector<LogEntry>& entries) {
  std::vector<uint64_t> indexes;
  for (const LogEntry& entry : entries) indexes.push_back(entry.index.value);
  return indexes;
}

inline std::string SegmentPath(uint64_t number) {
  return fmt::format("{}/{}", kLogFolder, LogSegmentName(number));
}

}  // namespace evenkeel::storage
