// What a process needs to speak TLS: its certificate and key, the authorities that it trusts, and
// what it asks of its peers. OpenSSL does the work, 1.2 is the least version.
//
// Any thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel::wire {

// What a listener takes. Source: the manual, net.tls.mode. allowTLS and preferTLS differ only in
// how servers talk to each other, which the cluster file decides here.
enum class TlsMode : uint8_t { kDisabled, kAllow, kPrefer, kRequire };

// By MongoDB's names: "disabled", "allowTLS", "preferTLS", "requireTLS".
std::optional<TlsMode> ParseTlsMode(std::string_view name);

// One file, and how messages name the setting that it comes from: "--tlsCAFile".
struct TlsFile {
  std::string setting;
  std::string path;  // empty: not given
};

enum class TlsSide : uint8_t { kServer, kClient };

struct TlsOptions {
  TlsSide side = TlsSide::kServer;
  TlsFile certificate_key_file;  // PEM: the certificate, its chain, its private key
  std::string key_password;      // where the key is encrypted
  TlsFile ca_file;               // PEM; a client without one trusts those of the system
  TlsFile crl_file;              // PEM: certificates that were taken back
  // Of a server with a CA file: whether clients may leave their certificate out.
  bool certificates_optional = false;
  // Of a client: whether a server's certificate may be made out to another host.
  bool any_host_name = false;
  bool tls1_2 = true;
  bool tls1_3 = true;
};

// Certificates as they were loaded last. Connections keep those that they began with.
class TlsContext {
 public:
  // Errors: InvalidOptions, naming the setting and the file.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Load(TlsOptions options);

  // Reads the files again, for new connections. After an error all stays as it was.
  absl::Status Reload();
  std::shared_ptr<boost::asio::ssl::context> Current() const;
  const TlsOptions& options() const { return options_; }

 private:
  explicit TlsContext(TlsOptions options) : options_(std::move(options)) {}

  const TlsOptions options_;
  mutable absl::Mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> current_ ABSL_GUARDED_BY(mutex_);
};

// True for bytes that begin a TLS connection. They cannot begin a first message of MongoDB's
// protocol: its length would be more than 64 KB. Needs kTlsStartBytes of them; fewer are told apart
// as far as they go.
inline constexpr size_t kTlsStartBytes = 3;
bool StartsTls(std::string_view bytes);

}  // namespace evenkeel::wire
