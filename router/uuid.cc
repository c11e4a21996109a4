// Makes UUIDs of the thread's random numbers.
#include "router/uuid.h"

#include <cstdint>

#include "base/random.h"

namespace evenkeel::router {

std::string NewUuid() {
  std::string uuid;
  for (int i = 0; i < 2; ++i) {
    const uint64_t bits = base::GlobalRandom64();
    uuid.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  }
  uuid[6] = static_cast<char>((uuid[6] & 0x0F) | 0x40);
  uuid[8] = static_cast<char>((uuid[8] & 0x3F) | 0x80);
  return uuid;
}

}  // namespace evenkeel::router
