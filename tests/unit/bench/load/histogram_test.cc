// Tests of the histogram of durations.
#include "bench/load/histogram.h"

#include <gtest/gtest.h>

namespace evenkeel::bench {
namespace {

TEST(HistogramTest, EmptyIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.Percentile(0.5), absl::ZeroDuration());
  EXPECT_EQ(histogram.Mean(), absl::ZeroDuration());
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (int i = 1; i <= 50; ++i) histogram.Record(absl::Nanoseconds(i));
  EXPECT_EQ(histogram.Percentile(0.5), absl::Nanoseconds(25));
  EXPECT_EQ(histogram.Percentile(1), absl::Nanoseconds(50));
  EXPECT_EQ(histogram.Mean(), absl::Nanoseconds(25));
}

TEST(HistogramTest, LargeValuesAreWithinTwoPercent) {
  for (const double nanos : {100.0, 999.0, 1e4, 123456.0, 1e7, 3.3e9, 1e12}) {
    Histogram histogram;
    histogram.Record(absl::Nanoseconds(nanos));
    histogram.Record(absl::Nanoseconds(nanos * 1000));
    EXPECT_NEAR(absl::ToDoubleNanoseconds(histogram.Percentile(0.5)), nanos, nanos * 0.02);
    EXPECT_EQ(histogram.Percentile(1), histogram.max());
  }
}

TEST(HistogramTest, PercentilesOfAUniformSequence) {
  Histogram histogram;
  for (int i = 1; i <= 10'000; ++i) histogram.Record(absl::Microseconds(i));
  EXPECT_NEAR(absl::ToDoubleMicroseconds(histogram.Percentile(0.50)), 5'000, 100);
  EXPECT_NEAR(absl::ToDoubleMicroseconds(histogram.Percentile(0.95)), 9'500, 190);
  EXPECT_NEAR(absl::ToDoubleMicroseconds(histogram.Percentile(0.99)), 9'900, 198);
}

TEST(HistogramTest, MergeAdds) {
  Histogram first, second;
  first.Record(absl::Nanoseconds(10));
  second.Record(absl::Nanoseconds(30));
  first.Merge(second);
  EXPECT_EQ(first.count(), 2u);
  EXPECT_EQ(first.Mean(), absl::Nanoseconds(20));
  EXPECT_EQ(first.max(), absl::Nanoseconds(30));
}

}  // namespace
}  // namespace evenkeel::bench
