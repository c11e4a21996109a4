// Tests of the choice of records: bounds, skew, growth.
#include "bench/load/key_chooser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace evenkeel::bench {
namespace {

constexpr int kDraws = 100'000;

std::vector<int> Counts(KeyOrder order, uint64_t record_count) {
  KeyChooser chooser(order, 7);
  std::vector<int> counts(record_count);
  for (int i = 0; i < kDraws; ++i) ++counts.at(chooser.Next(record_count));
  return counts;
}

TEST(KeyChooserTest, EveryOrderStaysInBounds) {
  for (const KeyOrder order : {KeyOrder::kUniform, KeyOrder::kZipfian, KeyOrder::kLatest}) {
    for (const uint64_t record_count : {1u, 2u, 3u, 100u}) {
      KeyChooser chooser(order, 3);
      for (int i = 0; i < 1000; ++i) ASSERT_LT(chooser.Next(record_count), record_count);
    }
  }
}

TEST(KeyChooserTest, ZipfianRanksFollowTheSkew) {
  base::Random random(5);
  Zipfian zipfian;
  std::vector<int> counts(1000);
  for (int i = 0; i < kDraws; ++i) ++counts.at(zipfian.Draw(1000, random));
  // The sum of 1/i^0.99 for 1000 ranks is 7.73: the first has 12.9 %, the second half as much.
  EXPECT_NEAR(counts[0], 0.129 * kDraws, 0.006 * kDraws);
  EXPECT_NEAR(counts[1], 0.065 * kDraws, 0.006 * kDraws);
}

TEST(KeyChooserTest, LatestPrefersTheNewest) {
  const std::vector<int> counts = Counts(KeyOrder::kLatest, 1000);
  EXPECT_EQ(std::max_element(counts.begin(), counts.end()) - counts.begin(), 999);
}

TEST(KeyChooserTest, ScatteredZipfianHasOneHotRecordThatIsNotTheFirst) {
  const std::vector<int> counts = Counts(KeyOrder::kZipfian, 1000);
  const auto hottest = std::max_element(counts.begin(), counts.end());
  EXPECT_GT(*hottest, kDraws / 10);
  EXPECT_NE(hottest - counts.begin(), 0);
}

TEST(KeyChooserTest, GrowthBetweenDrawsReachesNewRecords) {
  KeyChooser chooser(KeyOrder::kLatest, 9);
  for (uint64_t size = 1; size < 500; ++size) EXPECT_LT(chooser.Next(size), size);
  std::vector<int> counts(500);
  for (int i = 0; i < 10'000; ++i) ++counts.at(chooser.Next(500));
  EXPECT_GT(counts[499], 1000);
}

TEST(KeyChooserTest, ScatterIsFnv1a) {
  EXPECT_EQ(Scatter(0), 0xA8C7F832281A39C5u);
  EXPECT_NE(Scatter(1), Scatter(2));
}

}  // namespace
}  // namespace evenkeel::bench
