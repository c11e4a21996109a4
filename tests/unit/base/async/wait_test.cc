// Tests of events, WhenAll, SwitchTo and task groups.
#include "base/async/wait.h"

#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/async/event_loop.h"
#include "base/status.h"
#include "base/thread.h"
#include "tests/unit/base/async/run.h"

namespace evenkeel::base {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

using Task = std::function<awaitable<void>()>;

// Lets everything else that is ready in this executor run once.
awaitable<void> Pass() { co_await SwitchTo(co_await asio::this_coro::executor); }

TEST(Event, SetBeforeDoesNotSuspend) {
  Event event;
  event.Set();
  event.Set();
  EXPECT_TRUE(event.IsSet());
  asio::io_context context(1);
  bool ended = false;
  auto test = [](Event& e, bool& done) -> awaitable<void> {
    EXPECT_TRUE((co_await e.Wait()).ok());
    done = true;
  };
  asio::co_spawn(context, test(event, ended), [](std::exception_ptr) {});
  context.poll_one();
  EXPECT_TRUE(ended);
}

TEST(Event, SetByAnotherThread) {
  EventLoop loop("loop");
  for (int i = 0; i < 200; ++i) {
    asio::io_context context(1);  // outlives the thread that posts to it
    auto event = std::make_unique<Event>();
    Thread setter("setter", [&] { event->Set(); });
    auto test = [](std::unique_ptr<Event>& e) -> awaitable<void> {
      EXPECT_TRUE((co_await e->Wait()).ok());
      e.reset();  // Set may still run
    };
    RunToEnd(context, test(event));
    EXPECT_EQ(event, nullptr);
  }
}

awaitable<void> ExpectWait(Event& event, absl::Time deadline, CancellationToken token,
                           ErrorCode code) {
  EXPECT_EQ(CodeOf(co_await event.Wait(deadline, token)), code);
}

TEST(Event, DeadlineThenSet) {
  auto test = []() -> awaitable<void> {
    Event event;
    co_await ExpectWait(event, absl::InfinitePast(), {}, ErrorCode::kMaxTimeMSExpired);
    co_await ExpectWait(event, absl::Now() + absl::Milliseconds(2), {},
                        ErrorCode::kMaxTimeMSExpired);
    EXPECT_FALSE(event.IsSet());
    event.Set();
    co_await ExpectWait(event, absl::InfinitePast(), {}, ErrorCode::kOK);
  };
  RunToEnd(test());
}

TEST(Event, Cancelled) {
  auto test = []() -> awaitable<void> {
    Event event;
    CancellationSource source;
    const auto executor = co_await asio::this_coro::executor;
    asio::co_spawn(
        executor,
        [](CancellationSource& s) -> awaitable<void> {
          co_await Pass();
          s.Cancel();
        }(source),
        [](std::exception_ptr) {});
    co_await ExpectWait(event, absl::InfiniteFuture(), source.token(), ErrorCode::kInterrupted);
    co_await ExpectWait(event, absl::Now() + absl::Hours(1), source.token(),
                        ErrorCode::kInterrupted);
    event.Set();
    co_await ExpectWait(event, absl::InfiniteFuture(), source.token(), ErrorCode::kOK);
  };
  RunToEnd(test());
}

TEST(Event, EndsOnceWhenSetCancelAndDeadlineRace) {
  for (int i = 0; i < 200; ++i) {
    asio::io_context context(1);
    Event event;
    CancellationSource source;
    int ended = 0;
    Thread setter("setter", [&] { event.Set(); });
    Thread canceller("canceller", [&] { source.Cancel(); });
    auto test = [](Event& e, CancellationToken token, int& count) -> awaitable<void> {
      (void)co_await e.Wait(absl::Now() + absl::Microseconds(50), std::move(token));
      ++count;
    };
    RunToEnd(context, test(event, source.token(), ended));
    EXPECT_EQ(ended, 1);
  }
}

TEST(Event, GoesOnInTheWaitersExecutor) {
  asio::io_context context(1);  // outlives the loop, which posts to it
  EventLoop loop("loop");
  auto test = [](EventLoop& l) -> awaitable<void> {
    Event event;
    co_await SwitchTo(l.executor());
    EXPECT_TRUE(l.IsCurrent());
    asio::post(l.executor(), [&event] { event.Set(); });  // runs when this coroutine suspends
    EXPECT_TRUE((co_await event.Wait()).ok());
    EXPECT_FALSE(l.IsCurrent()) << "a wait ends where the coroutine was spawned";
  };
  RunToEnd(context, test(loop));
}

TEST(Sleep, EndsByTimeOrCancellation) {
  auto test = []() -> awaitable<void> {
    EXPECT_TRUE((co_await Sleep(absl::Milliseconds(1))).ok());
    EXPECT_TRUE((co_await Sleep(absl::ZeroDuration())).ok());
    CancellationSource source;
    source.Cancel();
    EXPECT_EQ(CodeOf(co_await Sleep(absl::Hours(1), source.token())), ErrorCode::kInterrupted);
  };
  RunToEnd(test());
}

TEST(WhenAll, RunsAllAtOnce) {
  auto test = []() -> awaitable<void> {
    Event first;
    Event second;
    std::string order;
    std::vector<Task> tasks;
    // Each needs another to go on: one after the other they would not end.
    tasks.push_back([&]() -> awaitable<void> {
      (void)co_await first.Wait();
      order += "a";
      second.Set();
    });
    tasks.push_back([&]() -> awaitable<void> {
      order += "b";
      first.Set();
      (void)co_await second.Wait();
      order += "c";
    });
    tasks.push_back([&]() -> awaitable<void> {
      order += "d";
      co_return;
    });
    co_await WhenAll(std::move(tasks));
    EXPECT_EQ(order, "bdac");
  };
  RunToEnd(test());
}

TEST(WhenAll, NoneAndOne) {
  auto test = []() -> awaitable<void> {
    co_await WhenAll({});
    int ran = 0;
    std::vector<Task> tasks;
    tasks.push_back([&]() -> awaitable<void> {
      ++ran;
      co_return;
    });
    co_await WhenAll(std::move(tasks));
    EXPECT_EQ(ran, 1);
  };
  RunToEnd(test());
}

TEST(WhenAll, ManyTasks) {
  auto test = []() -> awaitable<void> {
    int ran = 0;
    std::vector<Task> tasks;
    for (int i = 0; i < 100; ++i) {
      tasks.push_back([&ran, i]() -> awaitable<void> {
        if (i % 2 == 0) co_await Pass();
        ++ran;
      });
    }
    co_await WhenAll(std::move(tasks));
    EXPECT_EQ(ran, 100);
  };
  RunToEnd(test());
}

TEST(WhenAll, PassesAnExceptionOnWhenAllHaveEnded) {
  for (const int failing : {0, 1}) {
    auto test = [](int which) -> awaitable<void> {
      int ended = 0;
      std::vector<Task> tasks;
      for (int i = 0; i < 2; ++i) {
        tasks.push_back([&ended, i, which]() -> awaitable<void> {
          if (i == which) throw std::runtime_error("broken");
          co_await Pass();
          ++ended;
        });
      }
      bool caught = false;
      try {
        co_await WhenAll(std::move(tasks));
      } catch (const std::runtime_error&) {
        caught = true;
      }
      EXPECT_TRUE(caught);
      EXPECT_EQ(ended, 1);
    };
    RunToEnd(test(failing));
  }
}

TEST(TaskGroup, StopCancelsAndWaits) {
  auto test = []() -> awaitable<void> {
    TaskGroup group(co_await asio::this_coro::executor);
    int ended = 0;
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(group.Spawn([&ended](CancellationToken token) -> awaitable<void> {
        EXPECT_EQ(CodeOf(co_await Sleep(absl::Hours(1), token)), ErrorCode::kInterrupted);
        co_await Pass();
        ++ended;
      }));
    }
    EXPECT_EQ(group.running(), 3u);
    EXPECT_EQ(CodeOf(co_await group.Join(absl::Now() + absl::Milliseconds(1))),
              ErrorCode::kMaxTimeMSExpired);
    co_await group.Stop();
    EXPECT_EQ(ended, 3);
    EXPECT_EQ(group.running(), 0u);
    EXPECT_FALSE(group.Spawn([](CancellationToken) -> awaitable<void> { co_return; }));
    co_await group.Stop();
  };
  RunToEnd(test());
}

TEST(TaskGroup, TasksThatEndAtOnceAndThrow) {
  auto test = []() -> awaitable<void> {
    TaskGroup group(co_await asio::this_coro::executor);
    int ran = 0;
    group.Spawn([&ran](CancellationToken) -> awaitable<void> {
      ++ran;
      co_return;
    });
    group.Spawn([&ran](CancellationToken) -> awaitable<void> {
      ++ran;
      throw std::runtime_error("broken");
      co_return;
    });
    EXPECT_TRUE((co_await group.Join(absl::InfiniteFuture())).ok());
    EXPECT_EQ(ran, 2);
  };
  RunToEnd(test());
}

TEST(TaskGroup, TasksOnAnotherLoop) {
  EventLoop loop("loop");
  auto test = [](EventLoop& l) -> awaitable<void> {
    TaskGroup group(l.executor());
    std::atomic<int> ran{0};
    for (int i = 0; i < 50; ++i) {
      group.Spawn([&ran, &l](CancellationToken token) -> awaitable<void> {
        EXPECT_TRUE(l.IsCurrent());
        (void)co_await Sleep(absl::Hours(1), token);
        ++ran;
      });
    }
    co_await group.Stop();
    EXPECT_EQ(ran, 50);
  };
  RunToEnd(test(loop));
}

}  // namespace
}  // namespace evenkeel::base
