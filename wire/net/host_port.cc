// Reads addresses.
#include "wire/net/host_port.h"

#include <charconv>

namespace evenkeel::wire {

std::optional<HostPort> ParseHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  HostPort out{std::string(text.substr(0, colon))};
  const std::string_view digits = text.substr(colon + 1);
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, out.port);
  if (read.ec != std::errc() || read.ptr != end || out.port == 0) return std::nullopt;
  return out;
}

}  // namespace evenkeel::wire
