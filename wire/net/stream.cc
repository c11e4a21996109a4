// The handshakes.
#include "wire/net/stream.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/deferred.hpp>

#include "base/status.h"

namespace evenkeel::wire {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr auto kAsTuple = asio::as_tuple(asio::deferred);

// The certificate must be made out to `host`, a name or an address.
bool ExpectHost(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1) return true;
  return X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1 &&
         SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

}  // namespace

std::string Stream::Reason(const error_code& error) {
  const long verdict = SSL_get_verify_result(tls_->stream.native_handle());
  if (verdict == X509_V_OK) return error.message();
  return error.message() + ": " + X509_verify_cert_error_string(verdict);
}

asio::awaitable<absl::Status> Stream::Accept(const TlsContext& context, std::string_view received) {
  tls_ = std::make_unique<Tls>(socket_, context.Current());
  const auto [error, used] = co_await tls_->stream.async_handshake(
      asio::ssl::stream_base::server, asio::buffer(received), kAsTuple);
  if (error) {
    co_return Error(ErrorCode::kProtocolError, "the TLS handshake failed: {}", Reason(error));
  }
  if (used != received.size()) {
    co_return MakeError(ErrorCode::kProtocolError, "bytes behind the TLS handshake");
  }
  co_return absl::OkStatus();
}

asio::awaitable<absl::Status> Stream::Connect(const TlsContext& context, const std::string& host) {
  tls_ = std::make_unique<Tls>(socket_, context.Current());
  if (!context.options().any_host_name && !ExpectHost(tls_->stream.native_handle(), host)) {
    co_return Error(ErrorCode::kHostUnreachable, "cannot ask for a certificate of {}", host);
  }
  const auto [error] =
      co_await tls_->stream.async_handshake(asio::ssl::stream_base::client, kAsTuple);
  if (!error) co_return absl::OkStatus();
  const bool distrusted = SSL_get_verify_result(tls_->stream.native_handle()) != X509_V_OK;
  co_return Error(distrusted ? ErrorCode::kAuthenticationFailed : ErrorCode::kHostUnreachable,
                  "the TLS handshake failed: {}", Reason(error));
}

void Stream::Close() {
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace evenkeel::wire
