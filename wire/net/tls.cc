// Loads certificates with OpenSSL.
#include "wire/net/tls.h"

#include <absl/cleanup/cleanup.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/status.h"

namespace evenkeel::wire {

namespace ssl = boost::asio::ssl;

namespace {

constexpr unsigned char kSessionContext[] = "evenkeel";
// A record of the handshake: its type and the first byte of its version.
constexpr std::string_view kTlsStart("\x16\x03", 2);

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Why OpenSSL's last call failed.
std::string Reason() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const text = ERR_reason_error_string(error);
  return text != nullptr ? text : "unknown reason";
}

absl::Status Unusable(const TlsFile& file, const std::string& why) {
  return Error(ErrorCode::kInvalidOptions, "{}: cannot use {}: {}", file.setting, file.path, why);
}

absl::Status CheckReadable(const TlsFile& file) {
  const std::unique_ptr<std::FILE, FileCloser> stream(std::fopen(file.path.c_str(), "re"));
  if (stream == nullptr) return Unusable(file, std::strerror(errno));
  // A folder can be opened, but not read.
  if (std::fgetc(stream.get()) == EOF) return Unusable(file, "it is empty or no file");
  return absl::OkStatus();
}

// Gives OpenSSL the password of the key; without one it must not ask the terminal.
int GivePassword(char* buffer, int size, int /*writing*/, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  if (text.empty() || text.size() > static_cast<size_t>(size)) return 0;
  std::memcpy(buffer, text.data(), text.size());
  return static_cast<int>(text.size());
}

absl::Status CheckDates(SSL_CTX* context, const TlsFile& file) {
  const X509* const certificate = SSL_CTX_get0_certificate(context);
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    return Unusable(file, "the certificate is not valid yet");
  }
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
    return Unusable(file, "the certificate has expired");
  }
  return absl::OkStatus();
}

absl::Status UseCertificate(SSL_CTX* context, const TlsOptions& options) {
  const TlsFile& file = options.certificate_key_file;
  if (file.path.empty()) return absl::OkStatus();
  EVENKEEL_RETURN_IF_ERROR(CheckReadable(file));
  SSL_CTX_set_default_passwd_cb(context, GivePassword);
  std::string password = options.key_password;
  SSL_CTX_set_default_passwd_cb_userdata(context, &password);
  // Asio's context deletes what it finds there.
  const absl::Cleanup forget = [context] {
    SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
    SSL_CTX_set_default_passwd_cb(context, nullptr);
  };
  if (SSL_CTX_use_certificate_chain_file(context, file.path.c_str()) != 1) {
    return Unusable(file, "it must hold a certificate in PEM form (" + Reason() + ")");
  }
  if (SSL_CTX_use_PrivateKey_file(context, file.path.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Unusable(file,
                    "it must hold the certificate's private key in PEM form, and the "
                    "password must fit (" +
                        Reason() + ")");
  }
  return CheckDates(context, file);
}

absl::Status TrustAuthorities(SSL_CTX* context, const TlsOptions& options) {
  const TlsFile& file = options.ca_file;
  if (file.path.empty()) {
    if (options.side == TlsSide::kClient) SSL_CTX_set_default_verify_paths(context);
    return absl::OkStatus();
  }
  EVENKEEL_RETURN_IF_ERROR(CheckReadable(file));
  if (SSL_CTX_load_verify_file(context, file.path.c_str()) != 1) {
    return Unusable(file, "it must hold certificates in PEM form (" + Reason() + ")");
  }
  if (options.side == TlsSide::kServer) {
    SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(file.path.c_str()));
  }
  return absl::OkStatus();
}

absl::Status UseRevocations(SSL_CTX* context, const TlsFile& file) {
  if (file.path.empty()) return absl::OkStatus();
  EVENKEEL_RETURN_IF_ERROR(CheckReadable(file));
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (lookup == nullptr || X509_load_crl_file(lookup, file.path.c_str(), X509_FILETYPE_PEM) < 1) {
    return Unusable(file, "it must hold revocation lists in PEM form (" + Reason() + ")");
  }
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  return absl::OkStatus();
}

int VerifyMode(const TlsOptions& options) {
  if (options.side == TlsSide::kClient) return SSL_VERIFY_PEER;
  if (options.ca_file.path.empty()) return SSL_VERIFY_NONE;
  return SSL_VERIFY_PEER | (options.certificates_optional ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
}

absl::StatusOr<std::shared_ptr<ssl::context>> MakeContext(const TlsOptions& options) {
  ERR_clear_error();
  auto made = std::make_shared<ssl::context>(ssl::context::tls);
  SSL_CTX* const context = made->native_handle();
  SSL_CTX_set_min_proto_version(context, options.tls1_2 ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, options.tls1_3 ? 0 : TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  // Without it a resumed session is refused where certificates are asked for.
  SSL_CTX_set_session_id_context(context, kSessionContext, sizeof(kSessionContext) - 1);
  EVENKEEL_RETURN_IF_ERROR(UseCertificate(context, options));
  EVENKEEL_RETURN_IF_ERROR(TrustAuthorities(context, options));
  EVENKEEL_RETURN_IF_ERROR(UseRevocations(context, options.crl_file));
  SSL_CTX_set_verify(context, VerifyMode(options), nullptr);
  return made;
}

}  // namespace

std::optional<TlsMode> ParseTlsMode(std::string_view name) {
  if (name == "disabled") return TlsMode::kDisabled;
  if (name == "allowTLS") return TlsMode::kAllow;
  if (name == "preferTLS") return TlsMode::kPrefer;
  if (name == "requireTLS") return TlsMode::kRequire;
  return std::nullopt;
}

absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::Load(TlsOptions options) {
  std::shared_ptr<TlsContext> context(new TlsContext(std::move(options)));
  EVENKEEL_RETURN_IF_ERROR(context->Reload());
  return context;
}

absl::Status TlsContext::Reload() {
  EVENKEEL_ASSIGN_OR_RETURN(std::shared_ptr<ssl::context> made, MakeContext(options_));
  absl::MutexLock lock(&mutex_);
  current_.swap(made);
  return absl::OkStatus();
}

std::shared_ptr<ssl::context> TlsContext::Current() const {
  absl::MutexLock lock(&mutex_);
  return current_;
}

bool StartsTls(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, kTlsStart.size());
  if (start != kTlsStart.substr(0, start.size())) return false;
  return bytes.size() < kTlsStartBytes || bytes[kTlsStartBytes - 1] != 0;
}

}  // namespace evenkeel::wire
