// Tests of the listener: limits, peers that go or stall, memory, the end.
#include "wire/net/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/async/wait.h"
#include "base/thread.h"
#include "tests/unit/wire/net/harness.h"

namespace evenkeel::wire {
namespace {

constexpr char kWait[] = R"({"find": "c", "$db": "d"})";

// Waits in "find" until released or the client is gone, and says which; answers others at once.
struct Waiting {
  absl::Notification started;
  base::Event released;
  absl::Notification ended;
  absl::Status status;

  awaitable<Reply> Handle(Client client, Request request) {
    if (request.name != "find") co_return OkReply();
    started.Notify();
    status = co_await released.Wait(absl::InfiniteFuture(), client->disconnected.token());
    ended.Notify();
    co_return OkReply();
  }
  FunctionHandler::Body Body() {
    return [this](Client client, Request request) {
      return Handle(std::move(client), std::move(request));
    };
  }
};

TEST(Server, NoticesAPeerThatGoesWhileItsRequestRuns) {
  Waiting waiting;
  TestServer test(waiting.Body());
  Peer peer(test);
  ASSERT_TRUE(peer.Send(Peer::Command(kWait)));
  waiting.started.WaitForNotification();
  peer.Close();
  waiting.ended.WaitForNotification();
  EXPECT_EQ(CodeOf(waiting.status), ErrorCode::kInterrupted);
  test.handler.AwaitEnded(1);
}

TEST(Server, UnacknowledgedRequestsRunOnWithoutTheirPeer) {
  Waiting unacknowledged;
  Waiting other;
  TestServer test([&](Client client, Request request) {
    return (request.message.more_to_come() ? unacknowledged : other)
        .Handle(std::move(client), std::move(request));
  });
  Peer peer(test);
  ASSERT_TRUE(peer.Send(Peer::Command(kWait, kMoreToCome)));
  unacknowledged.started.WaitForNotification();
  peer.Close();
  Peer second(test);
  ASSERT_TRUE(second.Send(Peer::Command(kWait)));
  other.started.WaitForNotification();
  second.Close();
  other.ended.WaitForNotification();  // peers that are gone have been looked for since
  EXPECT_FALSE(unacknowledged.ended.HasBeenNotified());
  unacknowledged.released.Set();
  unacknowledged.ended.WaitForNotification();
  EXPECT_TRUE(unacknowledged.status.ok());
}

TEST(Server, RefusesTooManyConnections) {
  TestServer test(Echo, {.connections_max = 2});
  Peer first(test);
  Peer second(test);
  ASSERT_TRUE(first.Call(kPing).has_value());
  ASSERT_TRUE(second.Call(kPing).has_value());
  Peer third(test);
  EXPECT_TRUE(third.IsClosed());
  ServerStats stats = test.server.stats();
  EXPECT_EQ(stats.connections_current, 2u);
  EXPECT_EQ(stats.connections_available, 0u);
  EXPECT_EQ(stats.connections_rejected, 1u);
  first.Close();
  while (test.server.stats().connections_current > 1) {
  }
  Peer fourth(test);
  EXPECT_TRUE(fourth.Call(kPing).has_value());
  EXPECT_EQ(test.server.stats().connections_created, 3u);
}

TEST(Server, CutsOffFramesThatDoNotArrive) {
  TestServer test(Echo, {.transfer_time_max = absl::Milliseconds(1)});
  Peer idle(test);
  ASSERT_TRUE(idle.Call(kPing).has_value());
  const std::string ping = Peer::Command(kPing);
  for (const size_t bytes : {size_t{1}, size_t{15}, size_t{16}, ping.size() - 1}) {
    Peer slow(test);
    ASSERT_TRUE(slow.Send(ping.substr(0, bytes)));
    EXPECT_TRUE(slow.IsClosed()) << bytes;
  }
  EXPECT_TRUE(idle.Call(kPing).has_value()) << "idle connections stay";
}

TEST(Server, CutsOffLargeFramesThatDoNotArrive) {
  TestServer test(Echo, {.transfer_time_max = absl::Milliseconds(1),
                         .transfer_bytes_per_second_min = 1u << 30});
  Peer slow(test);
  ASSERT_TRUE(slow.Send(Int32Bytes(10'000'000) + Peer::Command(kPing).substr(4)));
  EXPECT_TRUE(slow.IsClosed());
  test.handler.AwaitEnded(1);
  EXPECT_EQ(test.server.stats().in_flight_bytes, 0u);
}

TEST(Server, CutsOffPeersThatDoNotTakeTheirReply) {
  TestServer test(
      [](Client, Request) -> awaitable<Reply> {
        bson::Builder builder;
        builder.Append("x", std::string(16'000'000, 'x'));
        co_return OkReply(builder.Finish());
      },
      {.transfer_time_max = absl::Milliseconds(1), .transfer_bytes_per_second_min = 1u << 30});
  Peer slow(test);
  ASSERT_TRUE(slow.Send(Peer::Command(kPing)));
  test.handler.AwaitEnded(1);
  EXPECT_EQ(test.server.stats().in_flight_bytes, 0u);
}

std::string LargeCommand(const char* name, size_t bytes) {
  bson::Builder builder;
  builder.Append(name, "c").Append("$db", "d").Append("x", std::string(bytes, 'x'));
  return EncodeOpMsg(1, 0, 0, builder.Finish());
}

TEST(Server, LargeRequestsWaitForMemory) {
  Waiting waiting;
  TestServer test(waiting.Body(), {.in_flight_bytes_max = 1'000'000});
  Peer first(test);
  Peer second(test);
  Peer third(test);
  Peer small(test);
  ASSERT_TRUE(first.Send(LargeCommand("find", 800'000)));
  waiting.started.WaitForNotification();
  ASSERT_TRUE(second.Send(LargeCommand("ping", 100'000).substr(0, 20'000)));
  ASSERT_TRUE(third.Send(LargeCommand("ping", 700'000).substr(0, 20'000)));
  ASSERT_TRUE(small.Call(kPing).has_value()) << "small requests need no admission";
  // The rest of the second fits beside the first or behind it; the third waits for the first.
  EXPECT_LE(test.server.stats().in_flight_bytes, 1'000'000u);
  waiting.released.Set();
  EXPECT_TRUE(first.Receive().has_value());
  ASSERT_TRUE(second.Send(LargeCommand("ping", 100'000).substr(20'000)));
  ASSERT_TRUE(third.Send(LargeCommand("ping", 700'000).substr(20'000)));
  EXPECT_TRUE(second.Receive().has_value());
  EXPECT_TRUE(third.Receive().has_value());
  EXPECT_EQ(test.server.stats().in_flight_bytes, 0u);
}

TEST(Server, PeersThatGoWhileTheyWaitForMemoryLeaveTheQueue) {
  Waiting waiting;
  TestServer test(waiting.Body(), {.in_flight_bytes_max = 1'000'000});
  Peer first(test);
  ASSERT_TRUE(first.Send(LargeCommand("find", 900'000)));
  waiting.started.WaitForNotification();
  {
    Peer second(test);
    ASSERT_TRUE(second.Send(LargeCommand("ping", 900'000).substr(0, 20'000)));
  }
  test.handler.AwaitEnded(1);
  waiting.released.Set();
  EXPECT_TRUE(first.Receive().has_value());
  EXPECT_EQ(test.server.stats().in_flight_bytes, 0u);
}

TEST(Server, PeersThatDoNotReadCannotUseUpTheMemory) {
  TestServer test(
      [](Client, Request request) -> awaitable<Reply> {
        bson::Builder builder;
        if (request.name == "find") builder.Append("x", std::string(16'000'000, 'x'));
        co_return OkReply(builder.Finish());
      },
      {.in_flight_bytes_max = 10'000'000, .stall_time_max = absl::Milliseconds(1)});
  std::vector<Peer> stalled;
  for (int i = 0; i < 8; ++i) {
    stalled.emplace_back(test);
    ASSERT_TRUE(stalled.back().Send(Peer::Command(kWait)));
  }
  Peer peer(test);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(peer.Call(kPing).has_value());
  EXPECT_GE(test.handler.ended(), 1);
}

TEST(Server, StopLetsRunningRequestsEnd) {
  Waiting waiting;
  TestServer test(waiting.Body());
  Peer idle(test);
  Peer half(test);
  Peer busy(test);
  ASSERT_TRUE(idle.Call(kPing).has_value());
  ASSERT_TRUE(half.Send(Peer::Command(kPing).substr(0, 10)));
  ASSERT_TRUE(busy.Send(Peer::Command(kWait)));
  waiting.started.WaitForNotification();
  base::Thread stopping("stopping", [&] { test.Stop(absl::InfiniteFuture()); });
  EXPECT_TRUE(idle.IsClosed());
  EXPECT_TRUE(half.IsClosed());
  waiting.released.Set();
  EXPECT_TRUE(busy.Receive().has_value());
  EXPECT_TRUE(busy.IsClosed());
  stopping.Join();
  EXPECT_TRUE(waiting.status.ok());
  EXPECT_EQ(test.handler.ended(), 3);
  EXPECT_EQ(test.server.stats().connections_current, 0u);
}

TEST(Server, StopDoesNotWaitForAwaitableHello) {
  absl::Notification started;
  TestServer test([&](Client client, Request) -> awaitable<Reply> {
    started.Notify();
    base::Event never;
    (void)co_await never.Wait(absl::InfiniteFuture(), client->disconnected.token());
    co_return OkReply();
  });
  Peer peer(test);
  ASSERT_TRUE(peer.Send(Peer::Command(R"({"hello": 1, "topologyVersion": 1, "$db": "admin"})")));
  started.WaitForNotification();
  test.Stop(absl::InfiniteFuture());
  EXPECT_TRUE(peer.IsClosed());
}

TEST(Server, StopEndsTheRestAtItsDeadline) {
  Waiting waiting;
  TestServer test(waiting.Body());
  Peer peer(test);
  ASSERT_TRUE(peer.Send(Peer::Command(kWait)));
  waiting.started.WaitForNotification();
  test.Stop(absl::InfinitePast());
  EXPECT_EQ(CodeOf(waiting.status), ErrorCode::kInterrupted);
  EXPECT_TRUE(peer.IsClosed());
}

TEST(Server, StopsUnderLoad) {
  for (int round = 0; round < 5; ++round) {
    TestServer test([](Client client, Request request) -> awaitable<Reply> {
      co_await base::SwitchTo(co_await boost::asio::this_coro::executor);
      co_return co_await Echo(std::move(client), std::move(request));
    });
    std::atomic<int> answered{0};
    const uint16_t port = test.server.port();
    std::vector<base::Thread> clients;
    std::vector<Peer> peers;
    for (int i = 0; i < 4; ++i) peers.emplace_back(port);
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back("client", [&, i] {
        while (peers[static_cast<size_t>(i)].Call(kPing).has_value()) ++answered;
      });
    }
    while (answered < 100) {
    }
    test.Stop(absl::InfiniteFuture());
    for (base::Thread& client : clients) client.Join();
    EXPECT_EQ(test.handler.ended(), 4);
    const ServerStats stats = test.server.stats();
    EXPECT_EQ(stats.requests_active, 0u);
    EXPECT_GE(stats.requests, 100u);
    EXPECT_GT(stats.bytes_in, 100u * 16);
    EXPECT_GT(stats.bytes_out, 100u * 16);
  }
}

TEST(Server, SpreadsConnectionsOverLoops) {
  base::EventLoop first("first");
  base::EventLoop second("second");
  std::atomic<int> on_second{0};
  FunctionHandler handler([&](Client client, Request request) {
    if (second.IsCurrent()) ++on_second;
    return Echo(std::move(client), std::move(request));
  });
  Server server({.port = 0}, {first.executor(), second.executor()});
  ASSERT_TRUE(server.Listen().ok());
  server.Start(&handler);
  std::vector<Peer> peers;
  for (int i = 0; i < 4; ++i) peers.emplace_back(server.port());
  for (Peer& peer : peers) EXPECT_TRUE(peer.Call(kPing).has_value());
  EXPECT_EQ(on_second, 2);
  RunOn(first, server.Stop(absl::InfiniteFuture()));
}

TEST(Server, ListensOnSeveralAddresses) {
  TestServer test(Echo, {.bind = {"127.0.0.1", "localhost", "127.0.0.2"}});
  Peer peer(test);
  EXPECT_TRUE(peer.Call(kPing).has_value());
}

TEST(Server, SaysWhyItCannotListen) {
  TestServer test(Echo);
  base::EventLoop loop("loop");
  Server taken({.port = test.server.port()}, {loop.executor()});
  const absl::Status status = taken.Listen();
  EXPECT_EQ(CodeOf(status), ErrorCode::kSocketException);
  EXPECT_NE(MessageOf(status).find("127.0.0.1:" + std::to_string(test.server.port())),
            std::string::npos);
  Server unknown({.bind = {"no such host"}, .port = 0}, {loop.executor()});
  EXPECT_FALSE(unknown.Listen().ok());
}

}  // namespace
}  // namespace evenkeel::wire
