// Tests of event loops.
#include "base/async/event_loop.h"

#include <absl/synchronization/notification.h>
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <stdexcept>

namespace evenkeel::base {
namespace {

TEST(EventLoop, RunsPostedWorkInItsThread) {
  EventLoop loop("loop");
  absl::Notification done;
  bool inside = false;
  boost::asio::post(loop.executor(), [&] {
    inside = loop.IsCurrent();
    done.Notify();
  });
  done.WaitForNotification();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(loop.IsCurrent());
}

TEST(EventLoop, SurvivesAnException) {
  EventLoop loop("loop");
  boost::asio::post(loop.executor(), [] { throw std::runtime_error("broken"); });
  absl::Notification done;
  boost::asio::post(loop.executor(), [&] { done.Notify(); });
  done.WaitForNotification();
}

TEST(What, NamesExceptions) {
  EXPECT_EQ(What(std::make_exception_ptr(std::runtime_error("broken"))), "broken");
  EXPECT_EQ(What(std::make_exception_ptr(1)), "an exception of unknown type");
}

}  // namespace
}  // namespace evenkeel::base
