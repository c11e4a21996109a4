// A server on loopback with a handler made of a function, and a blocking client that speaks bytes.
#pragma once

#include <absl/synchronization/mutex.h>
#include <absl/synchronization/notification.h>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/async/event_loop.h"
#include "base/check.h"
#include "tests/unit/wire/protocol/bytes.h"
#include "wire/net/server.h"
#include "wire/protocol/compress.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::wire {

using boost::asio::awaitable;
using Client = std::shared_ptr<ClientState>;

inline Reply OkReply(bson::View body = {}) { return {.body = SuccessReply(body, {})}; }

// Answers every request by `body`; counts ended connections.
class FunctionHandler final : public RequestHandler {
 public:
  using Body = std::function<awaitable<Reply>(Client, Request)>;
  explicit FunctionHandler(Body body) : body_(std::move(body)) {}

  awaitable<Reply> Handle(Client client, Request request) override {
    return body_(std::move(client), std::move(request));
  }
  Reply ErrorFor(const absl::Status& status) override { return {.body = ErrorReply(status, {})}; }
  void Disconnected(const ClientState&) override {
    absl::MutexLock lock(&mutex_);
    ++ended_;
  }
  // Waits until so many connections have ended.
  void AwaitEnded(int count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&] { return ended_ >= count; };
    mutex_.Await(absl::Condition(&enough));
  }
  int ended() const {
    absl::MutexLock lock(&mutex_);
    return ended_;
  }

 private:
  Body body_;
  mutable absl::Mutex mutex_;
  int ended_ = 0;
};

// Runs a coroutine on a loop and waits for its end.
inline void RunOn(base::EventLoop& loop, awaitable<void> coroutine) {
  absl::Notification done;
  boost::asio::co_spawn(loop.executor(), std::move(coroutine), [&done](std::exception_ptr error) {
    EVENKEEL_CHECK(!error);
    done.Notify();
  });
  done.WaitForNotification();
}

class TestServer {
 public:
  explicit TestServer(FunctionHandler::Body body, ServerOptions options = {})
      : handler(std::move(body)), server(AnyPort(std::move(options)), {loop.executor()}) {
    EVENKEEL_CHECK(server.Listen().ok());
    server.Start(&handler);
  }
  ~TestServer() { Stop(absl::InfiniteFuture()); }
  void Stop(absl::Time deadline) {
    if (!std::exchange(stopped_, true)) RunOn(loop, server.Stop(deadline));
  }

  base::EventLoop loop{"server"};
  FunctionHandler handler;
  Server server;

 private:
  static ServerOptions AnyPort(ServerOptions options) {
    options.port = 0;
    if (options.watch_interval == ServerOptions().watch_interval) {
      options.watch_interval = absl::Milliseconds(2);
    }
    return options;
  }
  bool stopped_ = false;
};

// A reply as a client sees it.
struct Received {
  MessageHeader header;
  uint32_t flags = 0;
  std::string body_bytes;
  bool packed = false;

  bson::View body() const { return bson::View(body_bytes.data()); }
};

// One blocking connection. A server that does not answer fails the test after a minute.
class Peer {
 public:
  explicit Peer(const TestServer& test) : Peer(test.server.port()) {}
  explicit Peer(uint16_t port) {
    socket_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval timeout{60, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    EVENKEEL_CHECK(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }
  Peer(Peer&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~Peer() { Close(); }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

  // False when the server has closed.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Nothing when the server has closed.
  std::optional<std::string> Bytes(size_t count) {
    std::string out(count, '\0');
    size_t have = 0;
    while (have < count) {
      const ssize_t got = recv(socket_, out.data() + have, count - have, 0);
      if (got <= 0) return std::nullopt;
      have += static_cast<size_t>(got);
    }
    return out;
  }
  bool IsClosed() { return !Bytes(1).has_value(); }

  std::optional<Received> Receive() {
    const auto head = Bytes(kHeaderBytes);
    if (!head) return std::nullopt;
    Received received;
    received.header = *ParseHeader(*head);
    auto payload = Bytes(static_cast<size_t>(received.header.length_bytes) - kHeaderBytes);
    if (!payload) return std::nullopt;
    if (received.header.op_code == OpCode::kCompressed) {
      received.packed = true;
      payload = *Decompress(*ParseCompressedHeader(*payload), *payload);
    } else if (received.header.op_code == OpCode::kReply) {
      received.body_bytes = payload->substr(20);
      return received;
    }
    received.flags = bson::LoadLittle<uint32_t>(payload->data());
    received.body_bytes = payload->substr(5);
    return received;
  }

  // Sends a command and waits for its reply.
  std::optional<Received> Call(const std::string& json, int32_t request_id = 1) {
    if (!Send(Command(json, 0, request_id))) return std::nullopt;
    return Receive();
  }

  static std::string Command(const std::string& json, uint32_t flags = 0, int32_t request_id = 1) {
    return EncodeOpMsg(request_id, 0, flags, Json(json));
  }

 private:
  int socket_ = -1;
};

inline constexpr char kPing[] = R"({"ping": 1, "$db": "admin"})";

// Answers {ok: 1, n: the command's argument}.
inline awaitable<Reply> Echo(Client, Request request) {
  bson::Builder builder;
  builder.Append("n", request.argument);
  co_return OkReply(builder.Finish());
}

}  // namespace evenkeel::wire
