// A TCP connection that may be encrypted. Plain and encrypted ones are read and written by the same
// calls; one branch per call decides, so a plain connection costs what its socket costs.
//
// Thread: the connection's loop. One read and one write at a time.
#pragma once

#include <absl/status/status.h>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "wire/net/tls.h"

namespace evenkeel::wire {

class Stream {
 public:
  using executor_type = boost::asio::ip::tcp::socket::executor_type;

  explicit Stream(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  executor_type get_executor() { return socket_.get_executor(); }
  boost::asio::ip::tcp::socket& socket() { return socket_; }
  bool encrypted() const { return tls_ != nullptr; }

  // Encrypts from here on, as the server of the connection. `received` has been read from the
  // socket already. Errors: ProtocolError with what is wrong with the peer.
  boost::asio::awaitable<absl::Status> Accept(const TlsContext& context, std::string_view received);
  // The same as the client. Errors: AuthenticationFailed when the peer's certificate is not to be
  // trusted or is not one for `host`; HostUnreachable.
  boost::asio::awaitable<absl::Status> Connect(const TlsContext& context, const std::string& host);

  // Ends what is under way, which fails then.
  void Close();

  // Asio's requirements of streams.
  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, size_t)>(
        [this](auto handler, const Buffers& into) {
          if (tls_) {
            tls_->stream.async_read_some(into, std::move(handler));
          } else {
            socket_.async_read_some(into, std::move(handler));
          }
        },
        token, buffers);
  }
  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_) {
            tls_->stream.async_write_some(from, std::move(handler));
          } else {
            socket_.async_write_some(from, std::move(handler));
          }
        },
        token, buffers);
  }

 private:
  struct Tls {
    Tls(boost::asio::ip::tcp::socket& socket, std::shared_ptr<boost::asio::ssl::context> with)
        : context(std::move(with)), stream(socket, *context) {}
    const std::shared_ptr<boost::asio::ssl::context> context;
    boost::asio::ssl::stream<boost::asio::ip::tcp::socket&> stream;
  };
  // What the handshake failed by: the verdict on the peer's certificate, if there is one.
  std::string Reason(const boost::system::error_code& error);

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<Tls> tls_;
};

}  // namespace evenkeel::wire
