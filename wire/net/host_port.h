// Addresses as people write them: "10.0.0.4:27018".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel::wire {

struct HostPort {
  std::string host;
  uint16_t port = 0;
  std::string text() const { return host + ":" + std::to_string(port); }
};

// Nothing where the host is empty or the port is not between 1 and 65535.
std::optional<HostPort> ParseHostPort(std::string_view text);

}  // namespace evenkeel::wire
