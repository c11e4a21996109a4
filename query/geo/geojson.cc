// Reads GeoJSON objects and legacy points.
#include <s2/s2error.h>
#include <s2/s2latlng.h>
#include <s2/s2loop.h>

#include <cmath>
#include <utility>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/geo/geometry.h"

namespace evenkeel::query::geo {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;
using Vertices = std::vector<S2Point>;

constexpr std::string_view kStrictWinding = "urn:x-mongodb:crs:strictwinding:EPSG:4326";
constexpr std::string_view kSphere[] = {"EPSG:4326", "urn:ogc:def:crs:OGC:1.3:CRS84"};

template <typename... Args>
absl::Status Bad(fmt::format_string<Args...> format, Args&&... args) {
  return Error(ErrorCode::kBadValue, format, std::forward<Args>(args)...);
}

// How the inside of a ring is told: the smaller side, or what lies left of its edges.
enum class Winding : uint8_t { kSmaller, kStrict };

absl::StatusOr<Winding> ParseCrs(View object, bool is_polygon) {
  const Value crs = object["crs"];
  if (crs.missing()) return Winding::kSmaller;
  if (!crs.Is(Type::kObject)) return Bad("GeoJSON CRS must be an object");
  const Value type = crs.AsDocument()["type"], properties = crs.AsDocument()["properties"];
  if (!type.Is(Type::kString) || type.AsString() != "name") {
    return Bad("GeoJSON CRS must have field \"type\": \"name\"");
  }
  if (!properties.Is(Type::kObject)) return Bad("CRS must have field \"properties\"");
  const Value name = properties.AsDocument()["name"];
  if (!name.Is(Type::kString)) return Bad("In CRS, \"properties.name\" must be a string");
  for (const std::string_view known : kSphere) {
    if (name.AsString() == known) return Winding::kSmaller;
  }
  if (name.AsString() != kStrictWinding) return Bad("Unknown CRS name: {}", name.AsString());
  if (!is_polygon) return Bad("the strict winding CRS is supported only for polygons");
  return Winding::kStrict;
}

absl::StatusOr<S2Point> ParsePosition(Value value) {
  EVENKEEL_ASSIGN_OR_RETURN(const FlatPoint flat, ParseFlatPoint(value, false));
  return ParseSpherePoint(flat);
}

// A list of positions, without those that repeat the one before.
absl::StatusOr<Vertices> ParsePositions(Value value) {
  if (!value.Is(Type::kArray)) return Bad("GeoJSON coordinates must be an array of coordinates");
  Vertices out;
  for (const Element& element : value.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(const S2Point point, ParsePosition(element.value));
    if (out.empty() || out.back() != point) out.push_back(point);
  }
  return out;
}

absl::Status AddPoint(Value coordinates, Winding, Geometry* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const FlatPoint flat, ParseFlatPoint(coordinates, false));
  EVENKEEL_ASSIGN_OR_RETURN(const S2Point point, ParseSpherePoint(flat));
  out->flat = flat;
  out->points.push_back(point);
  return absl::OkStatus();
}

absl::Status AddLine(Value coordinates, Winding, Geometry* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const Vertices vertices, ParsePositions(coordinates));
  if (vertices.size() < 2) {
    return Bad("GeoJSON LineString must have at least 2 vertices: {}",
               bson::ToDisplay(coordinates));
  }
  auto line = std::make_shared<S2Polyline>(vertices, S2Debug::DISABLE);
  S2Error error;
  if (line->FindValidationError(&error)) return Bad("invalid LineString: {}", error.text());
  out->lines.push_back(std::move(line));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<S2Loop>> ParseRing(Value value, Winding winding) {
  EVENKEEL_ASSIGN_OR_RETURN(Vertices vertices, ParsePositions(value));
  if (vertices.size() < 4 || vertices.front() != vertices.back()) {
    return Bad("Loop is not closed or has less than 3 different vertices: {}",
               bson::ToDisplay(value));
  }
  vertices.pop_back();
  auto loop = std::make_unique<S2Loop>(vertices, S2Debug::DISABLE);
  S2Error error;
  if (loop->FindValidationError(&error)) return Bad("Loop is not valid: {}", error.text());
  if (winding == Winding::kSmaller) loop->Normalize();
  return loop;
}

absl::Status AddPolygon(Value coordinates, Winding winding, Geometry* out) {
  if (!coordinates.Is(Type::kArray) || coordinates.AsDocument().empty()) {
    return Bad("Polygon coordinates must be an array of coordinates");
  }
  std::vector<std::unique_ptr<S2Loop>> loops;
  for (const Element& ring : coordinates.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<S2Loop> loop, ParseRing(ring.value, winding));
    if (!loops.empty() && winding == Winding::kStrict) {
      return Bad("Only one simple loop is allowed in a big polygon");
    }
    if (!loops.empty() && !loops.front()->Contains(*loop)) {
      return Bad("Secondary loops not contained by first exterior loop: {}",
                 bson::ToDisplay(ring.value));
    }
    loops.push_back(std::move(loop));
  }
  auto polygon = std::make_shared<S2Polygon>(std::move(loops), S2Debug::DISABLE);
  S2Error error;
  if (polygon->FindValidationError(&error)) return Bad("Polygon isn't valid: {}", error.text());
  out->polygons.push_back(std::move(polygon));
  return absl::OkStatus();
}

using Adder = absl::Status (*)(Value coordinates, Winding winding, Geometry* out);

template <Adder kAdd>
absl::Status AddEach(Value coordinates, Winding winding, Geometry* out) {
  if (!coordinates.Is(Type::kArray) || coordinates.AsDocument().empty()) {
    return Bad("coordinates must be an array with at least one element");
  }
  for (const Element& element : coordinates.AsDocument()) {
    EVENKEEL_RETURN_IF_ERROR(kAdd(element.value, winding, out));
  }
  out->flat.reset();
  return absl::OkStatus();
}

struct TypeRow {
  std::string_view name;
  Adder add;
};

constexpr TypeRow kTypes[] = {
    {"Point", AddPoint},
    {"LineString", AddLine},
    {"Polygon", AddPolygon},
    {"MultiPoint", AddEach<AddPoint>},
    {"MultiLineString", AddEach<AddLine>},
    {"MultiPolygon", AddEach<AddPolygon>},
};

absl::Status AddObject(View object, bool in_collection, Geometry* out) {
  const Value type = object["type"];
  if (!type.Is(Type::kString)) return Bad("unknown GeoJSON type: {}", bson::ToDisplay(type));
  if (type.AsString() == "GeometryCollection" && !in_collection) {
    const Value parts = object["geometries"];
    if (!parts.Is(Type::kArray) || parts.AsDocument().empty()) {
      return Bad("GeometryCollection geometries must be a non-empty array");
    }
    for (const Element& part : parts.AsDocument()) {
      if (!part.value.Is(Type::kObject)) return Bad("each element of geometries must be an object");
      EVENKEEL_RETURN_IF_ERROR(AddObject(part.value.AsDocument(), true, out));
    }
    out->flat.reset();
    return absl::OkStatus();
  }
  for (const TypeRow& row : kTypes) {
    if (row.name != type.AsString()) continue;
    EVENKEEL_ASSIGN_OR_RETURN(const Winding winding, ParseCrs(object, row.name == "Polygon"));
    return row.add(object["coordinates"], winding, out);
  }
  return Bad("Unknown GeoJSON type: {}", bson::ToDisplay(type));
}

}  // namespace

absl::StatusOr<FlatPoint> ParseFlatPoint(Value value, bool exactly_two) {
  if (!value.Is(Type::kArray) && !value.Is(Type::kObject)) {
    return Bad("Point must be an array or object, not {}", bson::ToDisplay(value));
  }
  double numbers[2];
  size_t count = 0;
  const bool strict = exactly_two || value.Is(Type::kObject);
  for (const Element& element : value.AsDocument()) {
    if (count == 2) {
      if (strict) return Bad("Point must only contain two elements: {}", bson::ToDisplay(value));
      break;
    }
    if (!element.value.IsNumber()) {
      return Bad("Point must only contain numeric elements: {}", bson::ToDisplay(value));
    }
    numbers[count] = bson::ToDouble(element.value);
    if (!std::isfinite(numbers[count])) {
      return Bad("Point coordinates must be finite numbers: {}", bson::ToDisplay(value));
    }
    ++count;
  }
  if (count < 2) return Bad("Point must contain two elements: {}", bson::ToDisplay(value));
  return FlatPoint{numbers[0], numbers[1]};
}

absl::StatusOr<S2Point> ParseSpherePoint(FlatPoint point) {
  const S2LatLng place = S2LatLng::FromDegrees(point.y, point.x);
  if (std::abs(point.x) > 180 || std::abs(point.y) > 90 || !place.is_valid()) {
    return Bad("longitude/latitude is out of bounds, lng: {} lat: {}", point.x, point.y);
  }
  return place.ToPoint();
}

absl::StatusOr<Geometry> ParseGeoJson(View object) {
  Geometry out;
  EVENKEEL_RETURN_IF_ERROR(AddObject(object, false, &out));
  return out;
}

absl::StatusOr<Geometry> ParseQueryGeometry(Value value) {
  if (value.Is(Type::kObject) && !value.AsDocument()["type"].missing()) {
    return ParseGeoJson(value.AsDocument());
  }
  EVENKEEL_ASSIGN_OR_RETURN(const FlatPoint flat, ParseFlatPoint(value, true));
  EVENKEEL_ASSIGN_OR_RETURN(const S2Point point, ParseSpherePoint(flat));
  Geometry out;
  out.flat = flat;
  out.points.push_back(point);
  return out;
}

std::optional<Geometry> ReadGeometry(Value value) {
  if (value.Is(Type::kObject) && value.AsDocument()["type"].Is(Type::kString)) {
    absl::StatusOr<Geometry> parsed = ParseGeoJson(value.AsDocument());
    return parsed.ok() ? std::optional<Geometry>(*std::move(parsed)) : std::nullopt;
  }
  const absl::StatusOr<FlatPoint> flat = ParseFlatPoint(value, false);
  if (!flat.ok()) return std::nullopt;
  Geometry out;
  out.flat = *flat;
  if (const auto point = ParseSpherePoint(*flat); point.ok()) out.points.push_back(*point);
  return out;
}

}  // namespace evenkeel::query::geo
