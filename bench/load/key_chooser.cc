// Implements the choice of records.
#include "bench/load/key_chooser.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::bench {
namespace {

constexpr double kAlpha = 1 / (1 - Zipfian::kSkew);

double ZetaOfTwo() { return 1 + std::pow(0.5, Zipfian::kSkew); }

}  // namespace

uint64_t Scatter(uint64_t number) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (int i = 0; i < 8; ++i) {
    hash ^= number & 0xFF;
    hash *= 0x100000001B3u;
    number >>= 8;
  }
  return hash;
}

void Zipfian::Grow(uint64_t size) {
  for (uint64_t i = size_ + 1; i <= size; ++i) {
    zeta_ += 1 / std::pow(static_cast<double>(i), kSkew);
  }
  size_ = size;
  const double base = 2.0 / static_cast<double>(size);
  eta_ = (1 - std::pow(base, 1 - kSkew)) / (1 - ZetaOfTwo() / zeta_);
}

uint64_t Zipfian::Draw(uint64_t size, base::Random& random) {
  if (size > size_) Grow(size);
  const double u = random.Double();
  const double uz = u * zeta_;
  if (uz < 1 || size_ < 2) return 0;
  if (uz < ZetaOfTwo()) return std::min<uint64_t>(1, size - 1);
  const double share = std::pow(eta_ * u - eta_ + 1, kAlpha);
  const auto rank = static_cast<uint64_t>(static_cast<double>(size_) * share);
  return std::min(rank, size - 1);
}

uint64_t KeyChooser::Next(uint64_t record_count) {
  switch (order_) {
    case KeyOrder::kUniform:
      return random_.Uniform(record_count);
    case KeyOrder::kZipfian:
      return Scatter(zipfian_.Draw(record_count, random_)) % record_count;
    case KeyOrder::kLatest:
      return record_count - 1 - zipfian_.Draw(record_count, random_);
  }
  return 0;
}

}  // namespace evenkeel::bench
