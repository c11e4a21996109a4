// `evenkeel status`: asks a router how the cluster is and shows it.
#pragma once

#include <cstdint>
#include <string>

namespace evenkeel::cli {

struct StatusOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 27017;
  std::string uri;  // mongodb://host:port/?options; instead of host and port
  bool json = false;
  int64_t timeout_seconds = 20;
  bool tls = false;
  bool any_host_name = false;
  std::string ca_file, certificate_key_file, key_password;
};

// Prints the status. Returns the exit code: 0 all is well, 1 something is down, 2 nobody could be
// asked.
int ShowStatus(StatusOptions options);

}  // namespace evenkeel::cli
