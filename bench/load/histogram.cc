// Implements the histogram of durations.
#include "bench/load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace evenkeel::bench {

// Values below 64 have a bucket each; above, the highest six bits behind the leading one choose the
// bucket.
size_t Histogram::BucketOf(uint64_t nanos) {
  const int width = static_cast<int>(std::bit_width(nanos));
  if (width <= kStepBits) return nanos;
  const int shift = width - kStepBits - 1;
  return (static_cast<size_t>(shift + 1) << kStepBits) + ((nanos >> shift) - (1u << kStepBits));
}

uint64_t Histogram::UpperEnd(size_t bucket) {
  if (bucket < (1u << kStepBits)) return bucket;
  const size_t shift = (bucket >> kStepBits) - 1;
  const uint64_t step = (bucket & ((1u << kStepBits) - 1)) + (1u << kStepBits);
  return ((step + 1) << shift) - 1;
}

void Histogram::Record(absl::Duration duration) {
  const int64_t signed_nanos = std::max<int64_t>(0, absl::ToInt64Nanoseconds(duration));
  const uint64_t nanos = static_cast<uint64_t>(signed_nanos);
  ++buckets_[BucketOf(nanos)];
  ++count_;
  sum_ += nanos;
  max_ = std::max(max_, nanos);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBucketCount; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

absl::Duration Histogram::Mean() const {
  return count_ == 0 ? absl::ZeroDuration() : absl::Nanoseconds(sum_ / count_);
}

absl::Duration Histogram::Percentile(double rank) const {
  if (count_ == 0) return absl::ZeroDuration();
  const double exact = std::ceil(rank * static_cast<double>(count_));
  const uint64_t wanted = std::clamp<uint64_t>(static_cast<uint64_t>(exact), 1, count_);
  uint64_t seen = 0;
  for (size_t i = 0; i < kBucketCount; ++i) {
    seen += buckets_[i];
    if (seen >= wanted) return absl::Nanoseconds(std::min(UpperEnd(i), max_));
  }
  return max();
}

}  // namespace evenkeel::bench
