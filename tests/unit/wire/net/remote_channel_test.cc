// Calls to a shard over the network: the pool, a shard that comes and goes, deadlines.
#include "wire/net/remote_channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <string>

#include "base/bson/builder.h"
#include "base/status.h"
#include "tests/unit/wire/net/harness.h"
#include "wire/net/cluster_key.h"
#include "wire/protocol/peer_fields.h"

namespace evenkeel::wire {
namespace {

constexpr char kKey[] = "a key for this test, long enough";

// A shard as far as the channel sees it: proves its key, then answers {echo: <name>, deadline}.
class FakeShard {
 public:
  explicit FakeShard(ServerOptions options = {}, std::string key = kKey)
      : key_(std::move(key)),
        test_([this](auto client, auto request) { return Answer(client, std::move(request)); },
              std::move(options)) {}

  uint16_t port() { return test_.server.port(); }
  std::atomic<int> calls{0};
  std::atomic<bool> hangs{false};

 private:
  boost::asio::awaitable<Reply> Answer(std::shared_ptr<ClientState> client, Request request) {
    bson::Builder reply;
    if (request.name == "_hello") {
      own_ = NewClusterNonce();
      const std::string other(request.body()["nonce"].AsBinary().bytes);
      reply.AppendBinary("nonce", 0, own_)
          .AppendBinary("proof", 0, ClusterProof(key_, "shard", own_, other));
    } else if (request.name != "_authenticate" && request.name != "_ping") {
      ++calls;
      if (hangs) (void)co_await base::Sleep(absl::Seconds(20), client->disconnected.token());
      const auto fields = PeerFieldsOf(request.body(), absl::Now());
      reply.Append("echo", request.name)
          .Append("bounded", fields.deadline != absl::InfiniteFuture());
    }
    reply.Append("ok", 1.0);
    co_return Reply{reply.Finish()};
  }

  const std::string key_;
  std::string own_;
  TestServer test_;
};

template <typename T>
std::future<T> Spawn(base::EventLoop& loop, boost::asio::awaitable<T> work) {
  return boost::asio::co_spawn(loop.executor(), std::move(work), boost::asio::use_future);
}

Message WorkRequest() {
  bson::Builder body;
  body.Append("_work", 1);
  return MakeMessage(body.Finish());
}

class RemoteChannelTest : public testing::Test {
 protected:
  ~RemoteChannelTest() override { StopChannel(); }

  void Connect(uint16_t port) {
    RemoteChannelOptions options;
    options.address = {"shard7", "127.0.0.1", port, kKey};
    options.wait_max = absl::Milliseconds(300);
    options.watch_interval = absl::Milliseconds(10);
    channel_ = std::make_unique<RemoteChannel>(options, &clock_, loop_.executor());
    channel_->Start();
  }
  void StopChannel() {
    if (channel_) RunOn(loop_, channel_->Stop());
    channel_.reset();
  }
  absl::StatusOr<Message> Call(absl::Time deadline = absl::InfiniteFuture()) {
    return Spawn(loop_, channel_->Call(WorkRequest(), deadline, {})).get();
  }

  base::EventLoop loop_{"router"};
  base::HybridClock clock_{base::WallClock::System(), absl::Seconds(10)};
  std::unique_ptr<RemoteChannel> channel_;
};

TEST_F(RemoteChannelTest, CallsAndDeadlinesArrive) {
  FakeShard shard;
  Connect(shard.port());
  for (int i = 0; i < 5; ++i) {
    const auto reply = Call();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->body["echo"].AsString(), "_work");
    EXPECT_FALSE(reply->body["bounded"].AsBool());
  }
  EXPECT_TRUE((*Call(absl::Now() + absl::Seconds(5))).body["bounded"].AsBool());
  EXPECT_EQ(shard.calls, 6);
}

TEST_F(RemoteChannelTest, AShardThatIsNotThereIsWaitedForAndNamed) {
  uint16_t port = 0;
  {
    FakeShard shard;
    port = shard.port();
  }
  Connect(port);
  const auto reply = Call();
  EXPECT_EQ(CodeOf(reply.status()), ErrorCode::kHostUnreachable);
  EXPECT_NE(MessageOf(reply.status()).find("shard7 at 127.0.0.1"), std::string::npos);
  EXPECT_EQ(CodeOf(Call(absl::Now() + absl::Milliseconds(50)).status()),
            ErrorCode::kMaxTimeMSExpired);
}

TEST_F(RemoteChannelTest, AHangingCallEndsAtItsDeadlineAndTheOthersGoOn) {
  FakeShard shard;
  Connect(shard.port());
  ASSERT_TRUE(Call().ok());
  shard.hangs = true;
  EXPECT_EQ(CodeOf(Call(absl::Now() + absl::Milliseconds(50)).status()),
            ErrorCode::kMaxTimeMSExpired);
  shard.hangs = false;
  EXPECT_TRUE(Call().ok());
}

TEST_F(RemoteChannelTest, AnotherKeyIsRefused) {
  FakeShard shard({}, "another key for this test, long too");
  Connect(shard.port());
  const absl::Status status = Spawn(loop_, channel_->WaitUntilUp({})).get();
  EXPECT_EQ(CodeOf(status), ErrorCode::kAuthenticationFailed);
  EXPECT_EQ(shard.calls, 0);
}

TEST_F(RemoteChannelTest, StopEndsWhatIsUnderWay) {
  FakeShard shard;
  Connect(shard.port());
  ASSERT_TRUE(Call().ok());
  shard.hangs = true;
  auto call = Spawn(loop_, channel_->Call(WorkRequest(), absl::InfiniteFuture(), {}));
  while (shard.calls < 2) absl::SleepFor(absl::Milliseconds(1));
  RunOn(loop_, channel_->Stop());
  EXPECT_EQ(CodeOf(call.get().status()), ErrorCode::kNetworkTimeout);
}

}  // namespace
}  // namespace evenkeel::wire
