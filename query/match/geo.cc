// Match operators on places: known, none supported yet.
#include "query/match/table.h"

namespace evenkeel::query::match {
namespace {

constexpr MatchOp kGeoOps[] = {
    {.name = "$geoIntersects",
     .place = Place::kField,
     .spec = "operator/query/geoIntersects",
     .tests = "query/geospatial"},
    {.name = "$geoWithin",
     .place = Place::kField,
     .spec = "operator/query/geoWithin",
     .tests = "query/geospatial"},
    {.name = "$near",
     .place = Place::kField,
     .spec = "operator/query/near",
     .tests = "query/geospatial"},
    {.name = "$nearSphere",
     .place = Place::kField,
     .spec = "operator/query/nearSphere",
     .tests = "query/geospatial"},
    {.name = "$within",
     .place = Place::kField,
     .spec = "operator/query/geoWithin",
     .tests = "query/geospatial"},
};
static_assert(RowsAreInOrder(kGeoOps));

}  // namespace

std::span<const MatchOp> GeoOps() { return kGeoOps; }

}  // namespace evenkeel::query::match
