// Which record an operation takes: uniform, zipfian with the popular records scattered, or zipfian
// towards the newest.
//
// The zipfian draw follows Gray et al., "Quickly generating billion-record synthetic databases"
// (1994), with the skew that YCSB uses. A chooser belongs to one thread; the number of records may
// grow between draws.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace evenkeel::bench {

enum class KeyOrder : uint8_t { kUniform, kZipfian, kLatest };

// Draws ranks from [0, size): rank 0 is the most frequent.
class Zipfian {
 public:
  static constexpr double kSkew = 0.99;

  uint64_t Draw(uint64_t size, base::Random& random);

 private:
  void Grow(uint64_t size);

  uint64_t size_ = 0;
  double zeta_ = 0;  // sum of 1/i^skew for i up to size_
  double eta_ = 0;
};

class KeyChooser {
 public:
  KeyChooser(KeyOrder order, uint64_t seed) : order_(order), random_(seed) {}

  // A record number in [0, record_count). Requires record_count > 0.
  uint64_t Next(uint64_t record_count);
  base::Random& random() { return random_; }

 private:
  KeyOrder order_;
  base::Random random_;
  Zipfian zipfian_;
};

// Spreads record numbers over 64 bits (FNV-1a), so that neighbours in popularity are none in key
// order.
uint64_t Scatter(uint64_t number);

}  // namespace evenkeel::bench
