// Random UUIDs.
#pragma once

#include <string>

namespace evenkeel::router {

// The 16 bytes of a random UUID: version 4, variant 1 (RFC 4122).
std::string NewUuid();

}  // namespace evenkeel::router
