// Match operators on places: $geoIntersects $geoWithin (its old name is $within), and $near
// $nearSphere, which need an index that does not exist yet.
#include <memory>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "query/geo/shape.h"
#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

using bson::Element;
using bson::Type;
using bson::Value;
using bson::View;

class GeoWithinPredicate final : public Predicate {
 public:
  explicit GeoWithinPredicate(std::unique_ptr<const geo::Shape> shape)
      : Predicate(PredicateKind::kGeo), shape_(std::move(shape)) {}
  bool Matches(Value value, MatchDetails&) const override {
    const std::optional<geo::Geometry> geometry = geo::ReadGeometry(value);
    return geometry && shape_->Contains(*geometry);
  }

 private:
  std::unique_ptr<const geo::Shape> shape_;
};

class GeoIntersectsPredicate final : public Predicate {
 public:
  explicit GeoIntersectsPredicate(geo::Geometry wanted)
      : Predicate(PredicateKind::kGeo), wanted_(std::move(wanted)) {}
  bool Matches(Value value, MatchDetails&) const override {
    const std::optional<geo::Geometry> geometry = geo::ReadGeometry(value);
    return geometry && geo::Intersects(wanted_, *geometry);
  }

 private:
  geo::Geometry wanted_;
};

// The operand, which must be an object; the operator takes no others beside it.
absl::StatusOr<View> OperandOf(const FieldUse& use) {
  if (!use.operand.Is(Type::kObject)) {
    return Bad("{} must be an object, not {}", use.name, bson::ToDisplay(use.operand));
  }
  if (use.siblings.Front().key == use.name && use.siblings.CountFields() > 1) {
    return Bad("{} cannot stand beside other operators: {}", use.name, bson::ToJson(use.siblings));
  }
  return use.operand.AsDocument();
}

absl::StatusOr<Condition> ParseGeoWithin(Parser&, const FieldUse& use) {
  EVENKEEL_ASSIGN_OR_RETURN(const View operand, OperandOf(use));
  EVENKEEL_ASSIGN_OR_RETURN(std::unique_ptr<const geo::Shape> shape, geo::ParseShape(operand));
  return Condition::Of(std::make_unique<GeoWithinPredicate>(std::move(shape)));
}

absl::StatusOr<Condition> ParseGeoIntersects(Parser&, const FieldUse& use) {
  EVENKEEL_ASSIGN_OR_RETURN(const View operand, OperandOf(use));
  if (operand.Front().key != "$geometry" || operand.CountFields() != 1) {
    return Bad("$geoIntersects takes {{$geometry: …}}, not {}", bson::ToJson(operand));
  }
  EVENKEEL_ASSIGN_OR_RETURN(geo::Geometry wanted, geo::ParseQueryGeometry(operand["$geometry"]));
  return Condition::Of(std::make_unique<GeoIntersectsPredicate>(std::move(wanted)));
}

// Where a field of $near may stand, and what it holds.
absl::Status CheckNearField(const Element& field) {
  if (field.key == "$geometry") {
    EVENKEEL_ASSIGN_OR_RETURN(const geo::Geometry place, geo::ParseQueryGeometry(field.value));
    if (place.flat && place.points.size() == 1) return absl::OkStatus();
    return Bad("$near requires a point, given {}", bson::ToDisplay(field.value));
  }
  if (field.key == "$minDistance" || field.key == "$maxDistance") {
    if (field.value.IsNumber() && bson::ToDouble(field.value) >= 0) return absl::OkStatus();
    return Bad("{} must be a non-negative number", field.key);
  }
  return Bad("invalid argument in geo near query: {}", field.key);
}

// Documents by distance: without an index there is no plan.
absl::StatusOr<Condition> ParseNear(Parser&, const FieldUse& use) {
  if (use.operand.Is(Type::kArray)) {
    EVENKEEL_RETURN_IF_ERROR(geo::ParseFlatPoint(use.operand, false).status());
  } else if (use.operand.Is(Type::kObject)) {
    for (const Element& field : use.operand.AsDocument()) {
      if (field.value.IsNumber() && !field.key.starts_with('$')) continue;  // {x: 1, y: 2}
      EVENKEEL_RETURN_IF_ERROR(CheckNearField(field));
    }
  } else {
    return Bad("near must be first in: {}", bson::ToJson(use.siblings));
  }
  return Error(ErrorCode::kNoQueryExecutionPlans,
               "error processing query: planner returned error :: caused by :: unable to find "
               "index for $geoNear query");
}

// What $near reads beside itself.
absl::StatusOr<Condition> ParseDistance(Parser&, const FieldUse& use) {
  EVENKEEL_RETURN_IF_ERROR(CheckNearField({use.name, use.operand}));
  return Condition();
}

constexpr MatchOp kGeoOps[] = {
    {.name = "$geoIntersects",
     .place = Place::kField,
     .parse_field = ParseGeoIntersects,
     .spec = "operator/query/geoIntersects",
     .tests = "query/geospatial"},
    {.name = "$geoWithin",
     .place = Place::kField,
     .parse_field = ParseGeoWithin,
     .spec = "operator/query/geoWithin",
     .tests = "query/geospatial"},
    {.name = "$maxDistance",
     .place = Place::kField,
     .parse_field = ParseDistance,
     .spec = "operator/query/maxDistance",
     .tests = "query/geospatial"},
    {.name = "$minDistance",
     .place = Place::kField,
     .parse_field = ParseDistance,
     .spec = "operator/query/minDistance",
     .tests = "query/geospatial"},
    {.name = "$near",
     .place = Place::kField,
     .parse_field = ParseNear,
     .spec = "operator/query/near",
     .tests = "query/geospatial"},
    {.name = "$nearSphere",
     .place = Place::kField,
     .parse_field = ParseNear,
     .spec = "operator/query/nearSphere",
     .tests = "query/geospatial"},
    {.name = "$within",
     .place = Place::kField,
     .parse_field = ParseGeoWithin,
     .spec = "operator/query/geoWithin",
     .tests = "query/geospatial"},
};
static_assert(RowsAreInOrder(kGeoOps));

}  // namespace

std::span<const MatchOp> GeoOps() { return kGeoOps; }

}  // namespace evenkeel::query::match
