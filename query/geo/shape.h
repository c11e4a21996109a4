// The shapes that $geoWithin asks about: $box $center $polygon on the plane, $centerSphere and
// $geometry on the sphere.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "base/bson/view.h"
#include "query/geo/geometry.h"

namespace evenkeel::query::geo {

class Shape {
 public:
  virtual ~Shape() = default;
  // True when the geometry lies wholly in the shape, its border included where the shape is flat.
  virtual bool Contains(const Geometry& geometry) const = 0;
};

// {$box: …} and the like: one shape. Errors: BadValue.
absl::StatusOr<std::unique_ptr<const Shape>> ParseShape(bson::View operand);

}  // namespace evenkeel::query::geo
