// Implements the options about TLS.
#include "cli/tls_choice.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/status.h"

namespace evenkeel::cli {

void AddTlsOptions(CLI::App* app, TlsChoice* choice) {
  const std::string group = "TLS";
  app->add_option("--tlsMode", choice->mode,
                  "whether clients use TLS; allowTLS and preferTLS take plain connections too")
      ->check(CLI::IsMember({"disabled", "allowTLS", "preferTLS", "requireTLS"}))
      ->capture_default_str()
      ->group(group);
  app->add_option("--tlsCertificateKeyFile", choice->certificate_key_file,
                  "PEM file with the certificate, its chain and its private key")
      ->group(group);
  app->add_option("--tlsCertificateKeyFilePassword", choice->key_password,
                  "password of the private key, if it is encrypted")
      ->group(group);
  app->add_option("--tlsCAFile", choice->ca_file,
                  "PEM file with the authorities of clients' certificates")
      ->group(group);
  app->add_option("--tlsCRLFile", choice->crl_file, "PEM file with revocation lists")->group(group);
  app->add_flag("--tlsAllowConnectionsWithoutCertificates", choice->certificates_optional,
                "clients may leave their certificate out, though there is a CA file")
      ->group(group);
  app->add_option("--tlsDisabledProtocols", choice->disabled_protocols,
                  "versions not to speak, separated by commas; below TLS1_2 none is spoken")
      ->delimiter(',')
      ->check(CLI::IsMember({"none", "TLS1_0", "TLS1_1", "TLS1_2", "TLS1_3"}))
      ->group(group);
}

std::string CheckTlsChoice(const TlsChoice& choice) {
  const bool disabled = choice.mode == "disabled";
  if (!disabled && choice.certificate_key_file.empty()) {
    return "--tlsMode " + choice.mode + " needs --tlsCertificateKeyFile";
  }
  if (disabled && (!choice.certificate_key_file.empty() || !choice.ca_file.empty())) {
    return "options about TLS need --tlsMode allowTLS, preferTLS or requireTLS";
  }
  if (!choice.crl_file.empty() && choice.ca_file.empty()) {
    return "--tlsCRLFile needs --tlsCAFile";
  }
  const auto& without = choice.disabled_protocols;
  const auto is_off = [&](const char* name) {
    return std::find(without.begin(), without.end(), name) != without.end();
  };
  if (is_off("TLS1_2") && is_off("TLS1_3")) return "--tlsDisabledProtocols leaves no version";
  return "";
}

bool AsksForCertificates(const TlsChoice& choice) {
  return choice.mode == "requireTLS" && !choice.ca_file.empty() && !choice.certificates_optional;
}

void AppendTlsChoice(bson::Builder& builder, const TlsChoice& choice) {
  if (choice.mode == "disabled") return;
  builder.OpenDocument("tls").Append("mode", choice.mode);
  builder.Append("certificateKeyFile", choice.certificate_key_file);
  if (!choice.ca_file.empty()) builder.Append("CAFile", choice.ca_file);
  if (!choice.crl_file.empty()) builder.Append("CRLFile", choice.crl_file);
  builder.Append("allowConnectionsWithoutCertificates", choice.certificates_optional).Close();
}

absl::StatusOr<ListenerTls> LoadTls(const TlsChoice& choice) {
  ListenerTls tls;
  tls.mode = wire::ParseTlsMode(choice.mode).value_or(wire::TlsMode::kDisabled);
  if (tls.mode == wire::TlsMode::kDisabled) return tls;
  wire::TlsOptions options;
  options.certificate_key_file = {"--tlsCertificateKeyFile", choice.certificate_key_file};
  options.key_password = choice.key_password;
  options.ca_file = {"--tlsCAFile", choice.ca_file};
  options.crl_file = {"--tlsCRLFile", choice.crl_file};
  options.certificates_optional = choice.certificates_optional;
  for (const std::string& name : choice.disabled_protocols) {
    if (name == "TLS1_2") options.tls1_2 = false;
    if (name == "TLS1_3") options.tls1_3 = false;
  }
  EVENKEEL_ASSIGN_OR_RETURN(tls.context, wire::TlsContext::Load(std::move(options)));
  return tls;
}

}  // namespace evenkeel::cli
