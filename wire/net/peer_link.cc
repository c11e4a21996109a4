// Implements the connection to a shard.
#include "wire/net/peer_link.h"

#include <absl/time/clock.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "wire/net/cluster_key.h"
#include "wire/protocol/error_reply.h"

namespace evenkeel::wire {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto kAsTuple = asio::as_tuple(asio::deferred);

Message HelloRequest(std::string_view nonce) {
  bson::Builder body;
  body.Append("_hello", int32_t{1}).AppendBinary("nonce", 0, nonce).Append("$db", "admin");
  return MakeMessage(body.Finish());
}

Message ProofRequest(std::string_view proof) {
  bson::Builder body;
  body.Append("_authenticate", int32_t{1}).AppendBinary("proof", 0, proof).Append("$db", "admin");
  return MakeMessage(body.Finish());
}

}  // namespace

// Aborts the link's present exchange at a deadline or when it is cancelled.
class PeerLink::Watchdog {
 public:
  Watchdog(PeerLink& link, absl::Time deadline, const base::CancellationToken& cancelled)
      : link_(link), cancelled_(cancelled), exchange_(++link.exchanges_) {
    const std::weak_ptr<PeerLink> weak = link.weak_from_this();
    if (deadline != absl::InfiniteFuture()) {
      link.timer_.expires_after(absl::ToChronoNanoseconds(deadline - absl::Now()));
      link.timer_.async_wait([weak, exchange = exchange_](error_code error) {
        if (!error) {
          Bite(weak, exchange,
               MakeError(ErrorCode::kMaxTimeMSExpired, "operation exceeded time limit"));
        }
      });
    }
    callback_ =
        cancelled_.OnCancel([weak, exchange = exchange_, executor = link.stream_.get_executor()] {
          asio::post(executor, [weak, exchange] {
            Bite(weak, exchange, MakeError(ErrorCode::kInterrupted, "operation was interrupted"));
          });
        });
  }
  ~Watchdog() {
    cancelled_.Forget(callback_);
    link_.timer_.cancel();
    ++link_.exchanges_;
  }

 private:
  static void Bite(const std::weak_ptr<PeerLink>& weak, uint64_t exchange, absl::Status reason) {
    const std::shared_ptr<PeerLink> link = weak.lock();
    if (link && link->exchanges_ == exchange) link->Abort(std::move(reason));
  }

  PeerLink& link_;
  const base::CancellationToken cancelled_;
  const uint64_t exchange_;
  uint64_t callback_ = 0;
};

PeerLink::PeerLink(asio::any_io_executor executor)
    : stream_(tcp::socket(executor)), timer_(executor) {}

PeerLink::~PeerLink() = default;

absl::Status PeerLink::Broken(ErrorCode code, const std::string& what) const {
  if (!aborted_.ok()) return aborted_;
  return Error(code, "{}: {}", peer_, what);
}

void PeerLink::Abort(absl::Status reason) {
  if (aborted_.ok()) aborted_ = std::move(reason);
  stream_.Close();
}

asio::awaitable<absl::Status> PeerLink::Connect(const PeerAddress& address) {
  tcp::resolver resolver(stream_.get_executor());
  auto [unknown, found] = co_await resolver.async_resolve(
      address.host, std::to_string(address.port), tcp::resolver::numeric_service, kAsTuple);
  if (unknown) co_return Broken(ErrorCode::kHostUnreachable, unknown.message());
  tcp::socket& socket = stream_.socket();
  const auto [refused, endpoint] = co_await asio::async_connect(socket, found, kAsTuple);
  if (refused) co_return Broken(ErrorCode::kHostUnreachable, refused.message());
  error_code error;
  socket.set_option(tcp::no_delay(true), error);
  if (!error) socket.set_option(asio::socket_base::keep_alive(true), error);
  if (!error) socket.non_blocking(true, error);
  if (error) co_return Broken(ErrorCode::kHostUnreachable, error.message());
  co_return absl::OkStatus();
}

asio::awaitable<absl::Status> PeerLink::Prove(const PeerAddress& address) {
  const std::string own = NewClusterNonce();
  const Message hello = HelloRequest(own);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await Send(hello));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Message greeting, co_await Receive());
  EVENKEEL_CO_RETURN_IF_ERROR(StatusOfReply(greeting.body));
  const std::string other(ClusterBytes(greeting.body, "nonce"));
  const std::string expected = ClusterProof(address.cluster_key, "shard", other, own);
  if (!IsSameProof(ClusterBytes(greeting.body, "proof"), expected)) {
    co_return Error(ErrorCode::kAuthenticationFailed, "{} has another cluster key", peer_);
  }
  const Message proof = ProofRequest(ClusterProof(address.cluster_key, "router", own, other));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await Send(proof));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Message accepted, co_await Receive());
  co_return StatusOfReply(accepted.body);
}

asio::awaitable<absl::Status> PeerLink::Open(const PeerAddress& address, absl::Time deadline) {
  peer_ = address.name + " at " + address.host + ":" + std::to_string(address.port);
  const Watchdog watchdog(*this, deadline, {});
  absl::Status opened = co_await Connect(address);
  if (opened.ok() && address.tls != nullptr) {
    const absl::Status secured = co_await stream_.Connect(*address.tls, address.host);
    if (!secured.ok()) opened = Broken(CodeOf(secured), std::string(MessageOf(secured)));
  }
  if (opened.ok() && !address.cluster_key.empty()) opened = co_await Prove(address);
  if (opened.ok() || CodeOf(opened) == ErrorCode::kAuthenticationFailed) co_return opened;
  // The time to open a link is not the client's: nothing was asked yet.
  const bool late = CodeOf(opened) == ErrorCode::kMaxTimeMSExpired;
  co_return Error(ErrorCode::kHostUnreachable, "{}",
                  late ? peer_ + ": no answer" : std::string(MessageOf(opened)));
}

asio::awaitable<absl::Status> PeerLink::Send(const Message& request) {
  request_id_ = request_id_ == INT32_MAX ? 1 : request_id_ + 1;
  const std::string bytes = EncodeOpMsg(request_id_, 0, request);
  const auto [error, sent] = co_await asio::async_write(stream_, asio::buffer(bytes), kAsTuple);
  if (error) co_return Broken(ErrorCode::kHostUnreachable, error.message());
  co_return absl::OkStatus();
}

asio::awaitable<absl::StatusOr<Message>> PeerLink::Receive() {
  char head[kHeaderBytes];
  const auto [no_head, head_bytes] =
      co_await asio::async_read(stream_, asio::buffer(head), kAsTuple);
  if (no_head) co_return Broken(ErrorCode::kNetworkTimeout, no_head.message());
  const std::string_view header_bytes(head, kHeaderBytes);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const MessageHeader header, ParseHeader(header_bytes));
  if (header.response_to != request_id_ || header.op_code != OpCode::kMsg) {
    co_return Broken(ErrorCode::kNetworkTimeout, "the reply is not one to the request");
  }
  const auto payload =
      std::make_shared<std::string>(static_cast<size_t>(header.length_bytes) - kHeaderBytes, '\0');
  const auto [no_rest, rest_bytes] =
      co_await asio::async_read(stream_, asio::buffer(*payload), kAsTuple);
  if (no_rest) co_return Broken(ErrorCode::kNetworkTimeout, no_rest.message());
  co_return ParseOpMsg(header, header_bytes, payload);
}

asio::awaitable<absl::StatusOr<Message>> PeerLink::Exchange(const Message& request,
                                                            absl::Time deadline,
                                                            base::CancellationToken cancelled) {
  const Watchdog watchdog(*this, deadline, cancelled);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await Send(request));
  co_return co_await Receive();
}

bool PeerLink::IsQuiet() {
  if (!stream_.socket().is_open()) return false;
  char byte;
  error_code error;
  stream_.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, error);
  return error == asio::error::would_block;
}

}  // namespace evenkeel::wire
