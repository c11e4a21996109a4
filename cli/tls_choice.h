// The options about TLS, by MongoDB's names, and what a listener is told of them.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "wire/net/tls.h"

namespace CLI {
class App;
}

namespace evenkeel::cli {

// As given. Source: the manual, "mongod", TLS options.
struct TlsChoice {
  std::string mode = "disabled";
  std::string certificate_key_file, key_password, ca_file, crl_file;
  bool certificates_optional = false;
  std::vector<std::string> disabled_protocols;
};

// Adds them to a role that listens to clients.
void AddTlsOptions(CLI::App* app, TlsChoice* choice);
// Empty, or what is wrong with the options together.
std::string CheckTlsChoice(const TlsChoice& choice);
// True when only clients with a certificate of ours get in.
bool AsksForCertificates(const TlsChoice& choice);
// Appends `tls: {mode, …}` as getCmdLineOpts shows it, without the password.
void AppendTlsChoice(bson::Builder& builder, const TlsChoice& choice);

struct ListenerTls {
  wire::TlsMode mode = wire::TlsMode::kDisabled;
  std::shared_ptr<wire::TlsContext> context;  // null when disabled
};

// Loads the files. Errors: InvalidOptions, naming option and file.
absl::StatusOr<ListenerTls> LoadTls(const TlsChoice& choice);

}  // namespace evenkeel::cli
