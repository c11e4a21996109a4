// Implements the random generators.
#include "base/random.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace evenkeel::base {

uint64_t Random::Uniform(uint64_t bound) {
  EVENKEEL_CHECK(bound > 0);
  // Numbers below `rest` would make the first 2^64 mod bound results more likely.
  const uint64_t rest = (0 - bound) % bound;
  uint64_t number = Next64();
  while (number < rest) number = Next64();
  return number % bound;
}

double Random::Double() {
  constexpr int kMantissaBits = 53;
  return static_cast<double>(Next64() >> (64 - kMantissaBits)) * 0x1.0p-53;
}

std::string Random::Bytes(size_t count) {
  std::string bytes(count, '\0');
  for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
    const uint64_t number = Next64();
    std::memcpy(bytes.data() + at, &number, std::min(sizeof(number), count - at));
  }
  return bytes;
}

uint64_t RandomSeed() {
  uint64_t seed = 0;
  EVENKEEL_CHECK(getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
  return seed;
}

uint64_t GlobalRandom64() {
  thread_local Random random(RandomSeed());
  return random.Next64();
}

}  // namespace evenkeel::base
