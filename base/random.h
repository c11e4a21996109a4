// Random numbers: a seeded generator that repeats exactly, and a process-wide source.
//
// Tests and the simulator pass a Random with the run's seed; everything that must be repeatable
// takes one as a parameter. A Random belongs to one thread; GlobalRandom64 may be called from any.
// Not for secrets: keys and nonces come from the cryptographic library behind wire/auth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace evenkeel::base {

// A deterministic generator: the same seed gives the same sequence on every machine and build.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t Next64() { return engine_(); }
  // A number in [0, bound), without bias. Requires bound > 0.
  uint64_t Uniform(uint64_t bound);
  // A number in [0, 1).
  double Double();
  // `count` random bytes.
  std::string Bytes(size_t count);
  // True with this probability; never for 0, always for 1.
  bool Chance(double probability) { return Double() < probability; }

 private:
  std::mt19937_64 engine_;
};

// A seed from the operating system.
uint64_t RandomSeed();

// A random number from a generator of the calling thread, seeded by the system.
uint64_t GlobalRandom64();

}  // namespace evenkeel::base
