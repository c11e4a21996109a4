// Tests of the random generators.
#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace evenkeel::base {
namespace {

TEST(RandomTest, SameSeedSameSequence) {
  Random a(42);
  Random b(42);
  Random other(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t number = a.Next64();
    EXPECT_EQ(number, b.Next64());
    differs |= number != other.Next64();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomTest, SequenceIsTheOneTheStandardFixes) {
  Random random(5489);
  for (int i = 1; i < 10'000; ++i) random.Next64();
  EXPECT_EQ(random.Next64(), 9981545732273789042u);
}

TEST(RandomTest, UniformStaysBelowAndReachesAll) {
  Random random(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i) {
    const uint64_t number = random.Uniform(counts.size());
    ASSERT_LT(number, counts.size());
    ++counts[number];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 200);
  EXPECT_EQ(random.Uniform(1), 0u);
  EXPECT_LT(random.Uniform(UINT64_MAX), UINT64_MAX);
}

TEST(RandomTest, DoubleIsBelowOne) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double number = random.Double();
    ASSERT_GE(number, 0);
    ASSERT_LT(number, 1);
    sum += number;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(RandomTest, BytesHaveTheLengthAskedFor) {
  Random random(3);
  for (size_t count = 0; count < 20; ++count) EXPECT_EQ(random.Bytes(count).size(), count);
  EXPECT_NE(random.Bytes(16), random.Bytes(16));
}

TEST(RandomTest, ChanceAtTheEnds) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(random.Chance(0));
    EXPECT_TRUE(random.Chance(1));
  }
}

TEST(RandomTest, SystemAndGlobalNumbersDiffer) {
  std::set<uint64_t> numbers;
  for (int i = 0; i < 50; ++i) {
    numbers.insert(GlobalRandom64());
    numbers.insert(RandomSeed());
  }
  EXPECT_EQ(numbers.size(), 100u);
}

}  // namespace
}  // namespace evenkeel::base
