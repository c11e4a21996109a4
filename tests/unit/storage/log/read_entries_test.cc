// Reading entries back: only whole plans of segments; the details are tested through the shard's
// log.
#include "storage/log/read_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/storage/log/log_test_lib.h"

namespace evenkeel::storage {
namespace {

using testing::ElementsAre;

TEST(ReadLogEntries, GoesFromSegmentToSegmentAndStopsAtItsBound) {
  tests::SimulatedFileSystem disk(1);
  {
    auto log = OpenLog(SmallLogOptions(&disk), 2);
    for (uint64_t i = 1; i <= 40; ++i) {
      AppendAndWrite(log.get(), 0, i, i, 600);
      AppendAndWrite(log.get(), 1, i, i, 100);
    }
  }
  auto recovered = RecoverLog(&disk, kLogFolder);
  ASSERT_TRUE(recovered.ok());
  ASSERT_GT(recovered->segments.size(), 1u);
  LogSegmentList list;
  list.Start(*std::move(recovered));
  const auto plan = list.PlanRead({0}, {5});
  const auto all = ReadLogEntries(plan, {0}, {5}, {38}, 1 << 20);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 34u);
  EXPECT_EQ(all->front().index, LogIndex{5});
  EXPECT_EQ(all->back().index, LogIndex{38});
  const auto some = ReadLogEntries(plan, {0}, {5}, {38}, 1800);
  EXPECT_THAT(Indexes(*some), ElementsAre(5, 6, 7));
}

}  // namespace
}  // namespace evenkeel::storage
