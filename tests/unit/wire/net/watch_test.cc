// Tests of the timer that looks after connections, with fake connections on socket pairs.
#include "wire/net/watch.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

namespace evenkeel::wire {
namespace {

class FakeConnection final : public Watched {
 public:
  FakeConnection() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_), 0); }
  ~FakeConnection() override {
    close(sockets_[0]);
    HangUp();
  }
  void HangUp() {
    if (sockets_[1] >= 0) close(sockets_[1]);
    sockets_[1] = -1;
  }
  int NativeHandle() override { return sockets_[0]; }
  void PeerGone() override { events += "gone "; }
  void TookTooLong() override { events += "late "; }
  void Stop() override { events += "stop "; }
  void Abort() override { events += "abort "; }

  std::string events;

 private:
  int sockets_[2] = {-1, -1};
};

class WatchTest : public testing::Test {
 protected:
  WatchTest() {
    watch_.Add(&a_);
    watch_.Add(&b_);
  }
  ~WatchTest() override {
    watch_.Remove(&a_);
    watch_.Remove(&b_);
  }
  void Ticks(int count) {
    for (int i = 0; i < count; ++i) {
      context_.restart();
      context_.run_one();
    }
  }

  boost::asio::io_context context_{1};
  Watch watch_{context_.get_executor(), absl::Microseconds(10)};
  FakeConnection a_;
  FakeConnection b_;
};

TEST_F(WatchTest, RestsWhenNothingRuns) {
  EXPECT_EQ(context_.poll(), 0u);
  watch_.Enter(&a_, Phase::kHandling);
  Ticks(1);
  watch_.Enter(&a_, Phase::kIdle);
  context_.run();  // ends: the last tick does not arm another
  EXPECT_EQ(a_.events, "");
}

TEST_F(WatchTest, ReportsPeersThatHaveGone) {
  watch_.Enter(&a_, Phase::kHandling);
  watch_.Enter(&b_, Phase::kWaiting);
  Ticks(2);
  EXPECT_EQ(a_.events + b_.events, "");
  a_.HangUp();
  Ticks(1);
  EXPECT_EQ(a_.events, "gone ");
  EXPECT_EQ(b_.events, "");
  watch_.Enter(&a_, Phase::kUnwatched);
  b_.HangUp();
  Ticks(1);
  EXPECT_EQ(a_.events, "gone ");
  EXPECT_EQ(b_.events, "gone ");
}

TEST_F(WatchTest, ReportsTransfersThatTakeTooLong) {
  watch_.Enter(&a_, Phase::kReading, absl::Microseconds(20));
  watch_.Enter(&b_, Phase::kWriting, absl::Hours(1));
  Ticks(3);
  EXPECT_EQ(a_.events, "");
  Ticks(1);
  EXPECT_EQ(a_.events, "late ");
  EXPECT_EQ(b_.events, "");
  watch_.Enter(&a_, Phase::kReading, absl::Microseconds(20));  // counts anew
  Ticks(3);
  EXPECT_EQ(a_.events, "late ");
}

TEST_F(WatchTest, CutsOffSlowRepliesUnderPressure) {
  base::ByteBudget budget(100);
  watch_.SetPressure(&budget, absl::Microseconds(20));
  watch_.Enter(&a_, Phase::kWriting, absl::Hours(1));
  watch_.Enter(&b_, Phase::kReading, absl::Hours(1));
  Ticks(10);
  EXPECT_EQ(a_.events, "");
  const base::ByteBudget::Grant grant = budget.Force(101);
  Ticks(1);
  EXPECT_EQ(a_.events, "late ");
  EXPECT_EQ(b_.events, "");
}

TEST_F(WatchTest, ForgetsRemovedConnections) {
  auto gone = std::make_unique<FakeConnection>();
  watch_.Add(gone.get());
  EXPECT_EQ(watch_.count(), 3u);
  watch_.Enter(gone.get(), Phase::kHandling);
  watch_.Remove(gone.get());
  gone.reset();
  EXPECT_EQ(watch_.count(), 2u);
  context_.run();
}

TEST_F(WatchTest, ClosedWatchDoesNothing) {
  watch_.Enter(&a_, Phase::kHandling);
  a_.HangUp();
  context_.run_one();
  EXPECT_EQ(a_.events, "gone ");
  watch_.Close();
  context_.restart();
  context_.run();
  EXPECT_EQ(a_.events, "gone ");
}

TEST_F(WatchTest, StopsAndAbortsAll) {
  watch_.StopAll();
  watch_.AbortAll();
  EXPECT_EQ(a_.events, "stop abort ");
  EXPECT_EQ(b_.events, "stop abort ");
}

}  // namespace
}  // namespace evenkeel::wire
