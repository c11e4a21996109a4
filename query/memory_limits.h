// How much each kind of blocking operator may hold in memory before it spills or fails.
#pragma once

#include <cstddef>

namespace evenkeel::query {

// Bytes per operator of a query. Process-wide values: query/settings.h.
struct MemoryLimits {
  static constexpr size_t kDefaultBytes = 100u << 20;  // MongoDB's

  size_t sort = kDefaultBytes;  // and $sample
  size_t group = kDefaultBytes;
  size_t bucket_auto = kDefaultBytes;
  size_t densify = kDefaultBytes;
  size_t window = kDefaultBytes;
  size_t lookup = kDefaultBytes;
  size_t graph_lookup = kDefaultBytes;
  size_t facet = kDefaultBytes;

  static constexpr MemoryLimits All(size_t bytes) {
    return {bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes};
  }
};

}  // namespace evenkeel::query
