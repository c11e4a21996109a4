// How the writer slows down.
#include "storage/write/slow_down.h"

#include <gtest/gtest.h>

namespace evenkeel::storage {
namespace {

constexpr size_t kTable = 1'000'000;
constexpr size_t kBatch = 10'000;
constexpr double kDrain = 1e6;

absl::Duration At(double tables) {
  return WriterDelay(static_cast<size_t>(tables * kTable), kTable, kBatch, kDrain);
}

TEST(SlowDown, NothingUpToOneTable) {
  EXPECT_EQ(At(0), absl::ZeroDuration());
  EXPECT_EQ(At(1), absl::ZeroDuration());
}

TEST(SlowDown, AtTwoAndAHalfTablesTheWriterIsAsFastAsTheCheckpoint) {
  EXPECT_NEAR(absl::ToDoubleSeconds(At(2.5)), kBatch / kDrain, 1e-6);
}

TEST(SlowDown, RisesWithoutJumpsToABound) {
  absl::Duration before = At(1.01);
  for (double tables = 1.05; tables < 12; tables += 0.05) {
    const absl::Duration now = At(tables);
    EXPECT_GE(now, before);
    EXPECT_LE(now, before * 1.1);
    before = now;
  }
  EXPECT_LE(WriterDelay(100 * kTable, kTable, 100 * kTable, kDrain), absl::Milliseconds(250));
}

TEST(SlowDown, AnUnknownPaceIsAssumed) {
  EXPECT_GT(WriterDelay(4 * kTable, kTable, kBatch, 0), absl::ZeroDuration());
}

}  // namespace
}  // namespace evenkeel::storage
