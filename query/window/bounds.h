// {window: {documents | range: [lower, upper], unit}}: which rows of its partition a row's function
// looks at.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bson/document.h"
#include "base/bson/number.h"
#include "query/window/partition.h"
#include "query/window/units.h"

namespace evenkeel::query::window {

// One end of a window: unbounded, the current row (offset 0), or an offset from it.
struct Bound {
  bool unbounded = false;
  bool current = false;     // written "current"
  bson::OwnedValue offset;  // a number; missing when unbounded
};

struct Bounds {
  bool by_range = false;  // offsets of the sorted value, not of positions
  Bound lower{.unbounded = true};
  Bound upper{.unbounded = true};
  std::optional<Unit> unit;  // of a range over dates

  bool whole_partition() const { return lower.unbounded && upper.unbounded; }
};

// Errors: FailedToParse for malformed windows, 5339900 for a lower end above the upper one.
absl::StatusOr<Bounds> ParseBounds(bson::Value window);
// Checks them against the stage's sort pattern. Errors: 5339901, 5339902, 8947401.
absl::Status CheckSort(const Bounds& bounds, const SortPattern& sort);

// The rows [begin, end) of a partition; both ends never move back from one row to the next.
struct Frame {
  size_t begin = 0;
  size_t end = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};
// The frames of all rows. Errors: 5429414 for a sorted value that is no number, 5429513 for one
// that is no date where there is a unit.
absl::StatusOr<std::vector<Frame>> FramesOf(const Bounds& bounds, const Partition& partition);

}  // namespace evenkeel::query::window
