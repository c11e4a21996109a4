// Identifiers as types, so that one kind of number is never taken for another.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace evenkeel {

// A strong integer: Tag only tells the kinds apart. Ordered, hashable (absl and std), formatted
// with .value.
template <typename Tag, typename Int = uint64_t>
struct StrongId {
  Int value = 0;

  friend constexpr auto operator<=>(StrongId, StrongId) = default;
  template <typename H>
  friend H AbslHashValue(H state, StrongId id) {
    return H::combine(std::move(state), id.value);
  }
};

using ShardId = StrongId<struct ShardTag, uint32_t>;  // 0, 1, 2 …; shown to users as "shard0"
using CollectionId = StrongId<struct CollectionTag, uint64_t>;  // never used again after a drop
using IndexId = StrongId<struct IndexTag, uint64_t>;  // unique in the cluster, never used again
using CatalogVersion = StrongId<struct CatalogVersionTag, uint64_t>;
using CursorId = StrongId<struct CursorTag, int64_t>;
using TxnNumber = StrongId<struct TxnTag, int64_t>;
using LogIndex =
    StrongId<struct LogIndexTag, uint64_t>;  // of one shard's log; the first entry is 1

// A hybrid logical clock value with BSON Timestamp's layout: seconds in the high half, increment in
// the low.
struct Timestamp {
  uint64_t bits = 0;

  constexpr uint32_t seconds() const { return static_cast<uint32_t>(bits >> 32); }
  constexpr uint32_t increment() const { return static_cast<uint32_t>(bits); }
  static constexpr Timestamp FromParts(uint32_t seconds, uint32_t increment) {
    return {uint64_t{seconds} << 32 | increment};
  }
  friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
};

inline constexpr Timestamp kTimestampMax{~uint64_t{0}};

}  // namespace evenkeel
