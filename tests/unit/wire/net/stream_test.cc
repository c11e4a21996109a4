// Connections over TLS between our own two ends: who is let in, and that all bytes arrive.
#include "wire/net/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/bson/builder.h"
#include "base/status.h"
#include "tests/lib/certificates.h"
#include "tests/unit/wire/net/harness.h"
#include "wire/net/peer_link.h"

namespace evenkeel::wire {
namespace {

using testing::HasSubstr;

awaitable<Reply> EchoText(Client, Request request) {
  bson::Builder builder;
  builder.Append("text", request.body()["text"]);
  co_return OkReply(builder.Finish());
}

class StreamTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ours = new tests::Authority();
    theirs = new tests::Authority();
  }
  static void TearDownTestSuite() {
    delete ours;
    delete theirs;
  }

  static std::shared_ptr<TlsContext> Load(TlsSide side, const std::string& certificate,
                                          const std::string& ca, bool any_host_name = false) {
    TlsOptions options;
    options.side = side;
    options.certificate_key_file = {"certificate", certificate};
    options.ca_file = {"ca", ca};
    options.any_host_name = any_host_name;
    auto loaded = TlsContext::Load(options);
    EVENKEEL_CHECK(loaded.ok());
    return *loaded;
  }
  static ServerOptions Serving(TlsMode mode, std::shared_ptr<TlsContext> context) {
    ServerOptions options;
    options.tls_mode = mode;
    options.tls = std::move(context);
    return options;
  }

  // Connects, sends `text` and gives back what came.
  absl::StatusOr<std::string> Exchange(const TestServer& server, std::shared_ptr<TlsContext> tls,
                                       std::string text = "hello", int times = 1) {
    address_ = {"server", "127.0.0.1", server.server.port(), "", std::move(tls)};
    return boost::asio::co_spawn(loop_.executor(), Talk(std::move(text), times),
                                 boost::asio::use_future)
        .get();
  }

 private:
  awaitable<absl::StatusOr<std::string>> Talk(std::string text, int times) {
    const auto link = std::make_shared<PeerLink>(loop_.executor());
    const absl::Time deadline = absl::Now() + absl::Seconds(60);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await link->Open(address_, deadline));
    std::string answered;
    for (int i = 0; i < times; ++i) {
      bson::Builder body;
      body.Append("ping", int32_t{1}).Append("text", text).Append("$db", "admin");
      const Message request = MakeMessage(body.Finish());
      const auto reply = co_await link->Exchange(request, deadline, {});
      if (!reply.ok()) co_return reply.status();
      answered = std::string(reply->body["text"].AsString());
    }
    co_return answered;
  }

 protected:
  static inline tests::Authority* ours = nullptr;
  static inline tests::Authority* theirs = nullptr;
  base::EventLoop loop_{"client"};
  PeerAddress address_;
};

TEST_F(StreamTest, BytesOfAllSizesArrive) {
  const std::string pem = ours->Issue("IP:127.0.0.1");
  TestServer server(EchoText, Serving(TlsMode::kRequire, Load(TlsSide::kServer, pem, ours->ca())));
  const auto client = Load(TlsSide::kClient, pem, ours->ca());
  for (const size_t size : {0, 1, 8'000, 8'192, 16'000, 16'384, 70'000, 1'000'000, 15'000'000}) {
    const std::string text(size, 'x');
    const auto answered = Exchange(server, client, text, 2);
    ASSERT_TRUE(answered.ok()) << answered.status();
    EXPECT_TRUE(*answered == text) << size;
  }
}

TEST_F(StreamTest, OnePortTakesBothWhereTlsIsPreferred) {
  const std::string pem = ours->Issue("IP:127.0.0.1");
  TestServer server(EchoText, Serving(TlsMode::kPrefer, Load(TlsSide::kServer, pem, "")));
  EXPECT_EQ(*Exchange(server, nullptr), "hello");
  EXPECT_EQ(*Exchange(server, Load(TlsSide::kClient, "", ours->ca())), "hello");
  Peer plain(server);
  const std::string bytes = Peer::Command(kPing);
  for (const char byte : bytes) ASSERT_TRUE(plain.Send(std::string_view(&byte, 1)));
  EXPECT_TRUE(plain.Receive().has_value());
  // A first message that looks like TLS for two bytes: 790 bytes long.
  const std::string padded =
      R"({"ping": 1, "$db": "admin", "comment": ")" + std::string(790 - 65, 'x') + "\"}";
  Peer similar(server);
  ASSERT_EQ(Peer::Command(padded).size(), 790u);
  EXPECT_TRUE(similar.Call(padded).has_value());
}

TEST_F(StreamTest, PlainConnectionsAreClosedWhereTlsIsRequired) {
  const std::string pem = ours->Issue("IP:127.0.0.1");
  TestServer server(EchoText, Serving(TlsMode::kRequire, Load(TlsSide::kServer, pem, "")));
  Peer plain(server);
  ASSERT_TRUE(plain.Send(Peer::Command(kPing)));
  EXPECT_TRUE(plain.IsClosed());
  Peer broken(server);
  ASSERT_TRUE(broken.Send(std::string_view("\x16\x03\x01\x00\x05hello", 10)));
  server.handler.AwaitEnded(2);
}

TEST_F(StreamTest, PeersAreVerified) {
  const std::string good = ours->Issue("IP:127.0.0.1");
  const std::string elsewhere = ours->Issue("DNS:elsewhere.example.net");
  const std::string foreign = theirs->Issue("IP:127.0.0.1");
  const struct {
    std::string name, server, client;
    bool any_host_name;
    // Empty: let in. What the server says of a client may be lost when it hangs up.
    std::string error;
  } cases[] = {
      {"both of one authority", good, good, false, ""},
      {"a server of another authority", foreign, good, false, "unable to get local issuer"},
      {"a client of another authority", good, foreign, false, "server at"},
      {"a client without a certificate", good, "", false, "server at"},
      {"a server of another name", elsewhere, good, false, "IP address mismatch"},
      {"a server of another name, allowed", elsewhere, good, true, ""},
  };
  for (const auto& tried : cases) {
    SCOPED_TRACE(tried.name);
    TestServer server(EchoText,
                      Serving(TlsMode::kRequire, Load(TlsSide::kServer, tried.server, ours->ca())));
    const auto answered =
        Exchange(server, Load(TlsSide::kClient, tried.client, ours->ca(), tried.any_host_name));
    if (tried.error.empty()) {
      EXPECT_TRUE(answered.ok()) << answered.status();
    } else {
      EXPECT_THAT(std::string(MessageOf(answered.status())), HasSubstr(tried.error));
    }
  }
}

TEST_F(StreamTest, NewConnectionsSeeReloadedCertificates) {
  const std::string pem = ours->Issue("IP:127.0.0.1");
  const auto context = Load(TlsSide::kServer, pem, "");
  TestServer server(EchoText, Serving(TlsMode::kRequire, context));
  const auto trusts_theirs = Load(TlsSide::kClient, "", theirs->ca());
  EXPECT_EQ(CodeOf(Exchange(server, trusts_theirs).status()), ErrorCode::kAuthenticationFailed);
  ASSERT_EQ(std::system(("cp " + theirs->Issue("IP:127.0.0.1") + " " + pem).c_str()), 0);
  ASSERT_TRUE(context->Reload().ok());
  EXPECT_EQ(*Exchange(server, trusts_theirs), "hello");
}

TEST_F(StreamTest, StoppingEndsConnectionsThatShakeHands) {
  const std::string pem = ours->Issue("IP:127.0.0.1");
  TestServer server(EchoText, Serving(TlsMode::kRequire, Load(TlsSide::kServer, pem, "")));
  Peer silent(server), halfway(server);
  ASSERT_TRUE(halfway.Send("\x16\x03\x01\x01"));
  server.Stop(absl::InfiniteFuture());
  EXPECT_TRUE(silent.IsClosed());
  EXPECT_TRUE(halfway.IsClosed());
}

}  // namespace
}  // namespace evenkeel::wire
