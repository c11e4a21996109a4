// Tests of the named thread.
#include "base/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <string>
#include <utility>

namespace evenkeel::base {
namespace {

std::string NameSeenBy(const std::string& name) {
  std::string seen;
  Thread thread(name, [&seen] {
    char buffer[64] = {};
    pthread_getname_np(pthread_self(), buffer, sizeof(buffer));
    seen = buffer;
  });
  thread.Join();
  return seen;
}

TEST(ThreadTest, CarriesItsName) { EXPECT_EQ(NameSeenBy("writer-0"), "writer-0"); }

TEST(ThreadTest, LongNamesAreCut) {
  EXPECT_EQ(NameSeenBy("a-very-long-thread-name"), "a-very-long-thr");
}

TEST(ThreadTest, DestructorJoins) {
  std::atomic<bool> ran{false};
  {
    const Thread thread("t", [&ran] { ran = true; });
  }
  EXPECT_TRUE(ran);
}

TEST(ThreadTest, JoinTwiceAndMoveAreHarmless) {
  std::atomic<int> count{0};
  Thread first("t", [&count] { ++count; });
  Thread second(std::move(first));
  second.Join();
  second.Join();
  EXPECT_EQ(count, 1);
  Thread().Join();
}

}  // namespace
}  // namespace evenkeel::base
