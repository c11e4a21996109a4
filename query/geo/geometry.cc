// Implements how geometries lie to each other.
//
// In an intersection a point counts as the smallest cell around it, so that points on edges are
// found in spite of rounding.
#include "query/geo/geometry.h"

#include <s2/s2cell.h>
#include <s2/s2cell_id.h>

#include <algorithm>

namespace evenkeel::query::geo {
namespace {

S2Cell CellOf(const S2Point& point) { return S2Cell(S2CellId(point)); }

template <typename Parts, typename Test>
bool AnyOf(const Parts& parts, Test test) {
  return std::any_of(parts.begin(), parts.end(), test);
}

bool PointMeets(const S2Point& point, const Geometry& other) {
  const S2Cell cell = CellOf(point);
  return AnyOf(other.points, [&](const S2Point& p) { return CellOf(p).id() == cell.id(); }) ||
         AnyOf(other.lines, [&](const auto& line) { return line->MayIntersect(cell); }) ||
         AnyOf(other.polygons, [&](const auto& area) { return area->MayIntersect(cell); });
}

bool LineMeets(const S2Polyline& line, const Geometry& other) {
  return AnyOf(other.points, [&](const S2Point& p) { return line.MayIntersect(CellOf(p)); }) ||
         AnyOf(other.lines, [&](const auto& l) { return line.Intersects(*l); }) ||
         AnyOf(other.polygons, [&](const auto& area) { return area->Intersects(line); });
}

bool AreaMeets(const S2Polygon& area, const Geometry& other) {
  return AnyOf(other.points, [&](const S2Point& p) { return area.MayIntersect(CellOf(p)); }) ||
         AnyOf(other.lines, [&](const auto& line) { return area.Intersects(*line); }) ||
         AnyOf(other.polygons, [&](const auto& a) { return area.Intersects(*a); });
}

}  // namespace

bool Covers(const std::vector<std::shared_ptr<const S2Polygon>>& areas, const Geometry& inner) {
  if (!inner.IsOnSphere()) return false;
  const auto covered = [&](const auto& part) {
    return AnyOf(areas, [&](const auto& area) { return area->Contains(part); });
  };
  return std::all_of(inner.points.begin(), inner.points.end(), covered) &&
         std::all_of(inner.lines.begin(), inner.lines.end(),
                     [&](const auto& line) { return covered(*line); }) &&
         std::all_of(inner.polygons.begin(), inner.polygons.end(),
                     [&](const auto& polygon) { return covered(*polygon); });
}

bool Intersects(const Geometry& a, const Geometry& b) {
  return AnyOf(a.points, [&](const S2Point& p) { return PointMeets(p, b); }) ||
         AnyOf(a.lines, [&](const auto& line) { return LineMeets(*line, b); }) ||
         AnyOf(a.polygons, [&](const auto& area) { return AreaMeets(*area, b); });
}

}  // namespace evenkeel::query::geo
