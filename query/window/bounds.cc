// Parsing of windows, and the frames that follow from them.
#include "query/window/bounds.h"

#include <algorithm>
#include <cmath>

#include "base/bson/compare.h"
#include "base/status.h"
#include "query/expr/kernel.h"

namespace evenkeel::query::window {
namespace {

using bson::Type;

absl::StatusOr<Bound> ParseBound(bson::Value spec, bool by_range) {
  if (spec.Is(Type::kString)) {
    if (spec.AsString() == "unbounded") return Bound{.unbounded = true};
    if (spec.AsString() == "current") {
      return Bound{.current = true, .offset = bson::Number::Int32(0).ToValue()};
    }
  }
  const bool good = by_range ? spec.IsNumber() : spec.IsNumber() && bson::ToInt64Exact(spec);
  if (!good) {
    return Error(ErrorCode::kFailedToParse,
                 "a window's bound must be 'unbounded', 'current' or {}, found {}",
                 by_range ? "a number" : "a whole number", expr::TypeName(spec.type()));
  }
  return Bound{.offset = bson::OwnedValue(spec)};
}

absl::StatusOr<Unit> ParseUnit(bson::Value spec) {
  if (spec.Is(Type::kString)) {
    if (const std::optional<Unit> unit = FindUnit(spec.AsString())) return *unit;
  }
  return Error(ErrorCode::kFailedToParse, "a window's 'unit' must be a unit of time, found {}",
               expr::TypeName(spec.type()));
}

absl::Status CheckOrder(const Bounds& bounds) {
  if (bounds.lower.unbounded || bounds.upper.unbounded) return absl::OkStatus();
  if (bson::CompareNumbers(bounds.lower.offset, bounds.upper.offset) <= 0) return absl::OkStatus();
  return Error(Location(5339900), "Lower bound must not exceed upper bound");
}

size_t Clamped(size_t row, int64_t offset, size_t count) {
  int64_t at = 0;
  if (__builtin_add_overflow(static_cast<int64_t>(row), offset, &at))
    at = offset < 0 ? 0 : INT64_MAX;
  return static_cast<size_t>(std::clamp<int64_t>(at, 0, static_cast<int64_t>(count)));
}

std::vector<Frame> DocumentFrames(const Bounds& bounds, size_t count) {
  std::vector<Frame> frames(count);
  const int64_t lower = bounds.lower.unbounded ? 0 : bson::ToInt64Truncated(bounds.lower.offset);
  const int64_t upper = bounds.upper.unbounded ? 0 : bson::ToInt64Truncated(bounds.upper.offset);
  for (size_t i = 0; i < count; ++i) {
    frames[i].begin = bounds.lower.unbounded ? 0 : Clamped(i, lower, count);
    frames[i].end = bounds.upper.unbounded ? count : Clamped(i + 1, upper, count);
    frames[i].end = std::max(frames[i].end, frames[i].begin);
  }
  return frames;
}

// Compares sorted values with a value moved by an offset.
class RangeEdge {
 public:
  RangeEdge(const Bounds& bounds, const bson::StringComparator* collation)
      : unit_(bounds.unit), collation_(collation) {}

  // `value` moved by the bound's offset.
  bson::OwnedValue Move(bson::Value value, const Bound& bound) const {
    if (bound.current) return bson::OwnedValue(value);
    if (unit_) {
      const int64_t moved =
          AddUnits(value.AsDateMillis(), *unit_, bson::ToInt64Truncated(bound.offset));
      EvalArena arena;
      return bson::OwnedValue(arena.Date(moved));
    }
    return bson::Add(bson::Number::From(value), bson::Number::From(bound.offset)).ToValue();
  }
  int Compare(bson::Value a, bson::Value b) const { return bson::Compare(a, b, collation_); }
  // The value can be moved.
  absl::Status Check(bson::Value value) const {
    if (unit_) {
      if (value.Is(Type::kDate)) return absl::OkStatus();
      return Error(Location(5429513), "a range with a unit needs dates to sort by, found {}",
                   expr::TypeName(value.type()));
    }
    if (value.IsNumber()) return absl::OkStatus();
    return Error(Location(5429414), "a range needs numbers to sort by, found {}",
                 expr::TypeName(value.type()));
  }

 private:
  std::optional<Unit> unit_;
  const bson::StringComparator* collation_;
};

absl::StatusOr<std::vector<Frame>> RangeFrames(const Bounds& bounds, const Partition& partition) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<bson::OwnedValue> values, partition.SortedValues());
  const RangeEdge edge(bounds, partition.evaluation.collation());
  const size_t count = values.size();
  std::vector<Frame> frames(count);
  size_t begin = 0, end = 0;
  for (size_t i = 0; i < count; ++i) {
    EVENKEEL_RETURN_IF_ERROR(edge.Check(values[i]));
    if (!bounds.lower.unbounded) {
      const bson::OwnedValue low = edge.Move(values[i], bounds.lower);
      while (begin < count && edge.Compare(values[begin], low) < 0) ++begin;
    }
    if (bounds.upper.unbounded) {
      end = count;
    } else {
      const bson::OwnedValue high = edge.Move(values[i], bounds.upper);
      while (end < count && edge.Compare(values[end], high) <= 0) ++end;
    }
    frames[i] = {begin, std::max(begin, end)};
  }
  return frames;
}

}  // namespace

absl::StatusOr<Bounds> ParseBounds(bson::Value window) {
  if (!window.Is(Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "'window' field must be an object, found {}",
                 expr::TypeName(window.type()));
  }
  const bson::View spec = window.AsDocument();
  for (const bson::Element& field : spec) {
    if (field.key == "documents" || field.key == "range" || field.key == "unit") continue;
    return Error(ErrorCode::kFailedToParse, "'window' has the unknown field '{}'", field.key);
  }
  const bson::Value documents = spec["documents"], range = spec["range"], unit = spec["unit"];
  Bounds bounds;
  bounds.by_range = !range.missing();
  if (!documents.missing() && !range.missing()) {
    return Error(ErrorCode::kFailedToParse, "'window' can have 'documents' or 'range', not both");
  }
  if (!unit.missing()) {
    if (!bounds.by_range) {
      return Error(ErrorCode::kFailedToParse, "'unit' belongs to a 'range' window only");
    }
    EVENKEEL_ASSIGN_OR_RETURN(bounds.unit, ParseUnit(unit));
  }
  if (documents.missing() && range.missing()) return bounds;
  const bson::Value ends = bounds.by_range ? range : documents;
  if (!ends.Is(Type::kArray) || ends.AsDocument().CountFields() != 2) {
    return Error(ErrorCode::kFailedToParse, "a window's bounds must be an array of two");
  }
  EVENKEEL_ASSIGN_OR_RETURN(bounds.lower, ParseBound(ends.AsDocument()["0"], bounds.by_range));
  EVENKEEL_ASSIGN_OR_RETURN(bounds.upper, ParseBound(ends.AsDocument()["1"], bounds.by_range));
  if (bounds.unit) {
    for (const Bound* bound : {&bounds.lower, &bounds.upper}) {
      if (bound->unbounded || bson::ToInt64Exact(bound->offset)) continue;
      return Error(ErrorCode::kFailedToParse, "a range with a unit needs whole numbers");
    }
  }
  EVENKEEL_RETURN_IF_ERROR(CheckOrder(bounds));
  return bounds;
}

absl::Status CheckSort(const Bounds& bounds, const SortPattern& sort) {
  if (bounds.whole_partition() && !bounds.by_range) return absl::OkStatus();
  if (!bounds.by_range) {
    if (!sort.empty()) return absl::OkStatus();
    return Error(Location(5339901), "Document-based bounds require a sortBy");
  }
  if (sort.fields().size() != 1) {
    return Error(Location(5339902), "Range-based bounds require sortBy a single field");
  }
  if (!sort.fields().front().ascending) {
    return Error(Location(8947401), "Range-based bounds require an ascending sortBy");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Frame>> FramesOf(const Bounds& bounds, const Partition& partition) {
  if (bounds.whole_partition()) {
    return std::vector<Frame>(partition.size(), Frame{0, partition.size()});
  }
  if (bounds.by_range) return RangeFrames(bounds, partition);
  return DocumentFrames(bounds, partition.size());
}

}  // namespace evenkeel::query::window
