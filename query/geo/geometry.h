// Geometries of documents and queries: GeoJSON on the sphere, and legacy points.
//
// The sphere's part is S2's; edges are geodesics. Immutable, used by any thread. Source: "GeoJSON
// Objects" and "Geospatial Queries" in the MongoDB manual; RFC 7946.
#pragma once

#include <absl/status/statusor.h>
#include <s2/s2point.h>
#include <s2/s2polygon.h>
#include <s2/s2polyline.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/bson/view.h"

namespace evenkeel::query::geo {

// Longitude and latitude in degrees, or coordinates of the plane.
struct FlatPoint {
  double x = 0, y = 0;
};

struct Geometry {
  // The coordinates as they were written, for a single point.
  std::optional<FlatPoint> flat;
  // The parts on the sphere; none for a legacy point that is no longitude and latitude.
  std::vector<S2Point> points;
  std::vector<std::shared_ptr<const S2Polyline>> lines;
  std::vector<std::shared_ptr<const S2Polygon>> polygons;

  bool IsOnSphere() const { return !points.empty() || !lines.empty() || !polygons.empty(); }
};

// Two numbers: [x, y], or an object of two fields. Errors: BadValue.
// `exactly_two` false: numbers that follow are ignored, as in documents.
absl::StatusOr<FlatPoint> ParseFlatPoint(bson::Value value, bool exactly_two);
// A point of the sphere. Errors: BadValue outside of ±180 and ±90 degrees.
absl::StatusOr<S2Point> ParseSpherePoint(FlatPoint point);

// A GeoJSON object. Errors: BadValue, naming what is wrong.
absl::StatusOr<Geometry> ParseGeoJson(bson::View object);
// A query's $geometry: GeoJSON or a legacy point. Errors: BadValue.
absl::StatusOr<Geometry> ParseQueryGeometry(bson::Value value);
// What a document's value stands for; nothing for values that are no geometry.
std::optional<Geometry> ReadGeometry(bson::Value value);

// True when one of `areas` covers each part of `inner`.
bool Covers(const std::vector<std::shared_ptr<const S2Polygon>>& areas, const Geometry& inner);
// True when the two have a point in common.
bool Intersects(const Geometry& a, const Geometry& b);

}  // namespace evenkeel::query::geo
