// One client connection: reads a frame, has it handled, writes the reply, one request after
// another.
//
// A connection lives on one loop; its coroutine and the loop's watch are the only ones that touch
// it. Used by server.cc only.
//
// Invariants
//   I1  At most one request of a connection is being handled; replies leave in the order of the
//   requests. I2  No exception and no error of one connection leaves it. I3  The handler hears of
//   the end of every connection exactly once, after its last request has ended.
#pragma once

#include <pthread.h>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "base/async/byte_budget.h"
#include "wire/net/frame_reader.h"
#include "wire/net/handler.h"
#include "wire/net/network_loop.h"
#include "wire/net/stream.h"
#include "wire/net/tls.h"
#include "wire/net/watch.h"

namespace evenkeel::wire {

// What all connections of a server share.
struct ConnectionSettings {
  RequestHandler* handler = nullptr;
  base::ByteBudget* budget = nullptr;
  absl::Duration transfer_time_max;
  size_t transfer_bytes_per_second_min = 1;
  TlsMode tls_mode = TlsMode::kDisabled;
  const TlsContext* tls = nullptr;  // unless disabled
};

class Connection final : public Watched {
 public:
  // loop, settings  outlive the connection.
  Connection(NetworkLoop* loop, const ConnectionSettings* settings,
             boost::asio::ip::tcp::socket socket, int64_t id);
  ~Connection() override;

  // Serves until the peer closes, the stream breaks, or Stop or Abort. In the loop's thread.
  static boost::asio::awaitable<void> Run(std::shared_ptr<Connection> self);

  int NativeHandle() override { return stream_.socket().native_handle(); }
  void PeerGone() override;
  void TookTooLong() override;
  void Stop() override;
  void Abort() override;

 private:
  // How the reply to a request is framed.
  struct ReplyForm {
    int32_t response_to = 0;
    uint32_t flags = 0;
    bool legacy = false;  // OP_REPLY
    std::optional<Compressor> compressor;
  };

  // The reply that is being written; reused by the next.
  struct Outgoing {
    std::array<char, kOpMsgPrefixBytes> prefix;
    std::array<char, 4> checksum;
    std::string whole;  // where a reply is not sent from its parts
    std::array<boost::asio::const_buffer, 3> parts;
    size_t bytes = 0;
  };

  boost::asio::awaitable<absl::Status> Serve();
  // Tells by the first bytes whether the peer speaks TLS; if it does, shakes hands.
  boost::asio::awaitable<absl::Status> Secure();
  // Reads what has come of something that has begun to arrive, or waits for its beginning.
  boost::asio::awaitable<absl::Status> FillSome(bool& begun);
  // The coroutines below take references into Serve's frame, which outlives them.
  boost::asio::awaitable<absl::Status> NextFrame(Frame& frame);
  // Replies that wait for slow peers have used up the budget: nothing new is begun before there is
  // room.
  boost::asio::awaitable<absl::Status> AwaitMemory();
  boost::asio::awaitable<absl::Status> Process(Frame& frame);
  boost::asio::awaitable<absl::Status> Execute(Message message, ReplyForm form);
  boost::asio::awaitable<absl::Status> Write(const bson::Document& body, const ReplyForm& form);
  // Gives the socket what it takes at once. Returns how much that was; a TLS connection cannot
  // tell.
  size_t WriteAtOnce(boost::system::error_code& error);

  absl::StatusOr<Message> Parse(Frame& frame, ReplyForm& form);
  Reply ReplyFor(std::exception_ptr exception);
  void Compose(const bson::Document& body, const ReplyForm& form);
  std::string EncodeCompressed(bson::View body, const ReplyForm& form);
  absl::Duration TransferTime(size_t bytes) const;
  void LogEnd(const absl::Status& status);
  void SetUp();
  void Close();

  NetworkLoop* const loop_;
  const ConnectionSettings* const settings_;
  Stream stream_;
  FrameReader reader_;
  std::shared_ptr<ClientState> client_;
  Outgoing out_;
  pthread_t thread_ = {};  // the loop's
  int32_t last_reply_id_ = 0;
  uint64_t operation_ = 0;  // the id of the last request, for the log
  bool stopping_ = false;
  bool handling_ = false;        // from a whole frame to its written reply
  bool waits_for_news_ = false;  // the request is an awaitable hello: nothing is lost by its end
  bool too_long_ = false;
};

}  // namespace evenkeel::wire
