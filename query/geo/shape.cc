// Implements the shapes of $geoWithin.
#include "query/geo/shape.h"

#include <s2/s1angle.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"

namespace evenkeel::query::geo {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;
using ShapePtr = std::unique_ptr<const Shape>;

template <typename... Args>
absl::Status Bad(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ErrorCode::kBadValue, format, std::forward<Args>(args)...);
}

class Box final : public Shape {
 public:
  Box(FlatPoint a, FlatPoint b)
      : low_{std::min(a.x, b.x), std::min(a.y, b.y)},
        high_{std::max(a.x, b.x), std::max(a.y, b.y)} {}
  bool Contains(const Geometry& geometry) const override {
    if (!geometry.flat) return false;
    const FlatPoint p = *geometry.flat;
    return p.x >= low_.x && p.x <= high_.x && p.y >= low_.y && p.y <= high_.y;
  }

 private:
  FlatPoint low_, high_;
};

class Circle final : public Shape {
 public:
  Circle(FlatPoint center, double radius) : center_(center), radius_(radius) {}
  bool Contains(const Geometry& geometry) const override {
    return geometry.flat &&
           std::hypot(geometry.flat->x - center_.x, geometry.flat->y - center_.y) <= radius_;
  }

 private:
  FlatPoint center_;
  double radius_;
};

class FlatPolygon final : public Shape {
 public:
  explicit FlatPolygon(std::vector<FlatPoint> corners) : corners_(std::move(corners)) {}
  // Counts the edges that a ray to the right crosses; points on an edge are inside.
  bool Contains(const Geometry& geometry) const override {
    if (!geometry.flat) return false;
    const FlatPoint p = *geometry.flat;
    bool inside = false;
    for (size_t i = 0, j = corners_.size() - 1; i < corners_.size(); j = i++) {
      const FlatPoint a = corners_[i], b = corners_[j];
      const double turn = (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
      if (turn == 0 && IsBetween(p.x, a.x, b.x) && IsBetween(p.y, a.y, b.y)) return true;
      if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) {
        inside = !inside;
      }
    }
    return inside;
  }

 private:
  static bool IsBetween(double value, double a, double b) {
    return value >= std::min(a, b) && value <= std::max(a, b);
  }

  std::vector<FlatPoint> corners_;
};

class SphereCap final : public Shape {
 public:
  SphereCap(S2Point center, double radians) : center_(center), radius_(radians) {}
  // Lines and areas: a cap up to half the sphere holds them when it holds their corners.
  bool Contains(const Geometry& geometry) const override {
    if (!geometry.IsOnSphere()) return false;
    const auto holds = [&](const S2Point& p) { return Holds(p); };
    if (!std::all_of(geometry.points.begin(), geometry.points.end(), holds)) return false;
    for (const auto& line : geometry.lines) {
      for (int i = 0; i < line->num_vertices(); ++i) {
        if (!Holds(line->vertex(i))) return false;
      }
    }
    for (const auto& polygon : geometry.polygons) {
      const S2Loop& shell = *polygon->loop(0);
      for (int i = 0; i < shell.num_vertices(); ++i) {
        if (!Holds(shell.vertex(i))) return false;
      }
    }
    return true;
  }

 private:
  bool Holds(const S2Point& point) const { return S1Angle(center_, point).radians() <= radius_; }

  S2Point center_;
  double radius_;
};

class SphereArea final : public Shape {
 public:
  explicit SphereArea(Geometry area) : area_(std::move(area)) {}
  bool Contains(const Geometry& geometry) const override {
    return Covers(area_.polygons, geometry);
  }

 private:
  Geometry area_;
};

// A list of points, as an array or an object of them.
absl::StatusOr<std::vector<FlatPoint>> ParsePoints(Value value, std::string_view shape) {
  if (!value.Is(Type::kArray) && !value.Is(Type::kObject)) {
    return Bad("{} must be an array or object of points, not {}", shape, bson::ToDisplay(value));
  }
  std::vector<FlatPoint> points;
  for (const Element& element : value.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(const FlatPoint point, ParseFlatPoint(element.value, true));
    points.push_back(point);
  }
  return points;
}

absl::StatusOr<ShapePtr> ParseBox(Value value) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<FlatPoint> corners, ParsePoints(value, "$box"));
  if (corners.size() < 2) return Bad("$box needs two corners: {}", bson::ToDisplay(value));
  return ShapePtr(std::make_unique<Box>(corners[0], corners[1]));
}

absl::StatusOr<ShapePtr> ParsePolygon(Value value) {
  EVENKEEL_ASSIGN_OR_RETURN(std::vector<FlatPoint> corners, ParsePoints(value, "$polygon"));
  if (corners.size() < 3) return Bad("Polygon must have at least 3 points");
  return ShapePtr(std::make_unique<FlatPolygon>(std::move(corners)));
}

struct CenterAndRadius {
  FlatPoint center;
  double radius = 0;
};

absl::StatusOr<CenterAndRadius> ParseCenter(Value value, std::string_view shape) {
  if (!value.Is(Type::kArray) && !value.Is(Type::kObject)) {
    return Bad("{} must be an array of a point and a radius, not {}", shape,
               bson::ToDisplay(value));
  }
  std::vector<Value> parts;
  for (const Element& element : value.AsDocument()) parts.push_back(element.value);
  if (parts.size() != 2) {
    return Bad("{} needs a point and a radius, and nothing else: {}", shape,
               bson::ToDisplay(value));
  }
  CenterAndRadius out;
  EVENKEEL_ASSIGN_OR_RETURN(out.center, ParseFlatPoint(parts[0], true));
  if (!parts[1].IsNumber()) return Bad("the radius of {} must be a number", shape);
  out.radius = bson::ToDouble(parts[1]);
  if (!(out.radius >= 0)) return Bad("the radius of {} must be a non-negative number", shape);
  return out;
}

absl::StatusOr<ShapePtr> ParseCircle(Value value) {
  EVENKEEL_ASSIGN_OR_RETURN(const CenterAndRadius circle, ParseCenter(value, "$center"));
  return ShapePtr(std::make_unique<Circle>(circle.center, circle.radius));
}

absl::StatusOr<ShapePtr> ParseCap(Value value) {
  EVENKEEL_ASSIGN_OR_RETURN(const CenterAndRadius cap, ParseCenter(value, "$centerSphere"));
  EVENKEEL_ASSIGN_OR_RETURN(const S2Point center, ParseSpherePoint(cap.center));
  return ShapePtr(std::make_unique<SphereCap>(center, cap.radius));
}

absl::StatusOr<ShapePtr> ParseArea(Value value) {
  if (!value.Is(Type::kObject)) {
    return Bad("$geometry must be an object, not {}", bson::ToDisplay(value));
  }
  EVENKEEL_ASSIGN_OR_RETURN(Geometry area, ParseGeoJson(value.AsDocument()));
  if (area.polygons.empty() || !area.lines.empty() || !area.points.empty()) {
    return Bad("$geoWithin not supported with provided geometry: {}", bson::ToDisplay(value));
  }
  return ShapePtr(std::make_unique<SphereArea>(std::move(area)));
}

struct ShapeRow {
  std::string_view name;
  absl::StatusOr<ShapePtr> (*parse)(Value value);
};

constexpr ShapeRow kShapes[] = {
    {"$box", ParseBox},       {"$center", ParseCircle},   {"$centerSphere", ParseCap},
    {"$geometry", ParseArea}, {"$polygon", ParsePolygon},
};

}  // namespace

absl::StatusOr<ShapePtr> ParseShape(View operand) {
  ShapePtr shape;
  for (const Element& element : operand) {
    if (element.key == "$uniqueDocs") continue;  // had a meaning long ago
    const auto* row = std::find_if(std::begin(kShapes), std::end(kShapes),
                                   [&](const ShapeRow& r) { return r.name == element.key; });
    if (row == std::end(kShapes)) return Bad("unknown geo specifier: {}", element.key);
    if (shape) return Bad("$geoWithin takes one shape: {}", bson::ToJson(operand));
    EVENKEEL_ASSIGN_OR_RETURN(shape, row->parse(element.value));
  }
  if (!shape) return Bad("$geoWithin needs a shape");
  return shape;
}

}  // namespace evenkeel::query::geo
