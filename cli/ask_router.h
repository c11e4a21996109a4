// What `evenkeel status` and `evenkeel moves` have in common: a router and a question to it.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bson/document.h"

namespace evenkeel::cli {

// Which router to ask, and how to reach it.
struct RouterChoice {
  std::string host = "127.0.0.1";
  uint16_t port = 27017;
  std::string uri;  // mongodb://host:port/?options; instead of host and port
  int64_t timeout_seconds = 20;
  bool tls = false;
  bool any_host_name = false;
  std::string ca_file, certificate_key_file, key_password;
};

// Exit codes.
inline constexpr int kWell = 0;
inline constexpr int kDegraded = 1;
inline constexpr int kCannotAsk = 2;

// The reply to {command: 1} on admin, without the fields that every reply has. Errors: of the
// options, of the connection, and those that the reply carries.
absl::StatusOr<bson::Document> AskRouter(RouterChoice router, std::string_view command);

}  // namespace evenkeel::cli
