// Reads connection strings.
#include "cli/router_uri.h"

#include <absl/strings/numbers.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace evenkeel::cli {
namespace {

constexpr std::string_view kScheme = "mongodb://";

// Without the string itself, which may hold a password.
absl::Status Wrong(std::string_view what) {
  return Error(ErrorCode::kInvalidOptions, "--uri: {}", what);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "%2Fetc" is "/etc". Nothing for a broken escape.
std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

// Takes what stands before the first of `ends` off the front of `text`.
std::string_view TakeUntil(std::string_view& text, std::string_view ends) {
  const std::string_view taken = text.substr(0, text.find_first_of(ends));
  text.remove_prefix(taken.size());
  return taken;
}

absl::Status ApplyHost(std::string_view host, RouterChoice* options) {
  std::string_view port;
  const size_t colon = host.rfind(':');
  const size_t bracket = host.rfind(']');  // "[::1]:27017"
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
    uint32_t number = 0;
    if (!absl::SimpleAtoi(absl::string_view(port.data(), port.size()), &number) || number == 0 ||
        number > 65'535) {
      return Wrong("the port must be a number below 65536");
    }
    options->port = static_cast<uint16_t>(number);
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty()) return Wrong("the host is missing");
  options->host = std::string(host);
  return absl::OkStatus();
}

absl::Status ApplyOption(std::string_view name, const std::string& value, RouterChoice* options) {
  const bool yes = value == "true";
  if (name == "tls" || name == "ssl") {
    options->tls = yes;
  } else if (name == "tlsCAFile") {
    options->ca_file = value;
  } else if (name == "tlsCertificateKeyFile") {
    options->certificate_key_file = value;
  } else if (name == "tlsCertificateKeyFilePassword") {
    options->key_password = value;
  } else if (name == "tlsAllowInvalidHostnames") {
    options->any_host_name = yes;
  } else if (name == "tlsInsecure" || name == "tlsAllowInvalidCertificates") {
    if (yes) return Wrong(std::string(name) + " is not supported");
  }
  return absl::OkStatus();  // the others are about how drivers work
}

}  // namespace

absl::Status ApplyUri(RouterChoice* options) {
  const std::string uri = options->uri;
  std::string_view rest = uri;
  if (!rest.starts_with(kScheme)) return Wrong("it must begin with mongodb://");
  rest.remove_prefix(kScheme.size());
  const std::string_view hosts = TakeUntil(rest, "/?");
  if (hosts.find('@') != std::string_view::npos) {
    return Wrong("there is no authentication yet: leave the user out");
  }
  EVENKEEL_RETURN_IF_ERROR(ApplyHost(hosts.substr(0, hosts.find(',')), options));
  TakeUntil(rest, "?");
  if (!rest.empty()) rest.remove_prefix(1);
  while (!rest.empty()) {
    const std::string_view pair = TakeUntil(rest, "&");
    if (!rest.empty()) rest.remove_prefix(1);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return Wrong("options are name=value");
    const auto value = Unescape(pair.substr(equals + 1));
    if (!value) return Wrong("a % must be followed by two hexadecimal digits");
    EVENKEEL_RETURN_IF_ERROR(ApplyOption(pair.substr(0, equals), *value, options));
  }
  return absl::OkStatus();
}

}  // namespace evenkeel::cli
