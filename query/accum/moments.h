// Count, mean and sum of squared deviations of a stream of numbers, by Welford's method; merged by
// Chan's.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace evenkeel::query::accum {

struct Moments {
  int64_t count = 0;
  double mean = 0;
  double squares = 0;  // sum of squared deviations from the mean

  void Add(double value) {
    ++count;
    const double delta = value - mean;
    mean += delta / static_cast<double>(count);
    squares += delta * (value - mean);
  }

  void Merge(const Moments& other) {
    if (other.count == 0) return;
    if (count == 0) {
      *this = other;
      return;
    }
    const double delta = other.mean - mean;
    const auto n = static_cast<double>(count);
    const auto m = static_cast<double>(other.count);
    mean = (n * mean + m * other.mean) / (n + m);
    squares += other.squares + delta * delta * n * m / (n + m);
    count += other.count;
  }

  // The standard deviation; nothing when there are too few numbers.
  std::optional<double> Deviation(bool sample) const {
    if (count <= (sample ? 1 : 0)) return std::nullopt;
    return std::sqrt(squares / static_cast<double>(sample ? count - 1 : count));
  }
};

}  // namespace evenkeel::query::accum
