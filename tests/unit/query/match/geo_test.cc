// $geoIntersects $geoWithin: shapes, stored forms, edges and errors; $near without an index.
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

#define POLYGON \
  R"({"type": "Polygon", "coordinates": [[[-10, -10], [10, -10], [10, 10], [-10, 10], [-10, -10]]]})"
#define HOLE                                                                               \
  R"({"type": "Polygon", "coordinates": [[[-9, -9], [9, -9], [9, 9], [-9, 9], [-9, -9]],)" \
  R"( [[-2, -2], [2, -2], [2, 2], [-2, 2], [-2, -2]]]})"
#define STRICT                                                                              \
  R"({"type": "Polygon", "coordinates": [[[-9, -9], [-9, 9], [9, 9], [9, -9], [-9, -9]]],)" \
  R"( "crs": {"type": "name", "properties": {"name": "urn:x-mongodb:crs:strictwinding:EPSG:4326"}}})"
#define POINT(x, y) R"({"a": {"type": "Point", "coordinates": [)" #x ", " #y "]}}"

constexpr Case kCases[] = {
    {R"({"a": {"$geoWithin": {"$box": [[10, 0], [0, 10]]}}})", R"({"a": [10, 5, 99]})"},
    {R"({"a": {"$geoWithin": {"$box": [[0, 0], [10, 10]]}}})", R"({"a": {"x": 1, "y": 11}})",
     false},
    {R"({"a": {"$geoWithin": {"$box": [[0, 0], [10, 10]]}}})", R"({"a": [[20, 20], [1, 1]]})"},
    {R"({"a": {"$geoWithin": {"$box": [[0, 0], [10, 10]]}}})", POINT(1, 1)},
    {R"({"a": {"$geoWithin": {"$box": [[0, 0], [9, 9]]}}})",
     R"({"a": {"type": "LineString", "coordinates": [[1, 1], [5, 5]]}})", false},
    {R"({"a": {"$geoWithin": {"$center": [[0, 0], 5]}}})", R"({"a": [3, 4]})"},
    {R"({"a": {"$geoWithin": {"$center": [[0, 0], 5]}}})", R"({"a": [4, 4]})", false},
    {R"({"a": {"$geoWithin": {"$polygon": [[0, 0], [4, 0], [0, 4]]}}})", R"({"a": [1, 1]})"},
    {R"({"a": {"$geoWithin": {"$polygon": [[0, 0], [4, 0], [0, 4]]}}})", R"({"a": [2, 2]})"},
    {R"({"a": {"$geoWithin": {"$polygon": [[0, 0], [4, 0], [0, 4]]}}})", R"({"a": [3, 3]})", false},
    {R"({"a": {"$geoWithin": {"$centerSphere": [[0, 0], 0.1]}}})", POINT(5, 0)},
    {R"({"a": {"$geoWithin": {"$centerSphere": [[0, 0], 0.1]}}})", POINT(6, 0), false},
    {R"({"a": {"$within": {"$geometry": )" POLYGON R"(}}})", POINT(5, 5)},
    {R"({"a": {"$geoWithin": {"$geometry": )" POLYGON R"(}}})", R"({"a": "x"})", false},
    {R"({"a": {"$geoWithin": {"$geometry": )" POLYGON R"(}}})",
     R"({"a": {"type": "LineString", "coordinates": [[5, 5], [15, 5]]}})", false},
    {R"({"a": {"$geoIntersects": {"$geometry": )" POLYGON R"(}}})",
     R"({"a": {"type": "LineString", "coordinates": [[5, 5], [15, 5]]}})"},
    {R"({"a": {"$geoIntersects": {"$geometry": )" HOLE R"(}}})", POINT(1, 1), false},
    {R"({"a": {"$geoIntersects": {"$geometry": )" HOLE R"(}}})", POINT(5, 5)},
    {R"({"a": {"$geoIntersects": {"$geometry": )" STRICT R"(}}})", POINT(50, 50)},
    {R"({"a": {"$geoIntersects": {"$geometry": )" STRICT R"(}}})", POINT(0, 0), false},
    {R"({"a": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [1, 2]}}}})",
     R"({"a": [1, 2]})"},
    {R"({"a": {"$not": {"$geoIntersects": {"$geometry": )" POLYGON R"(}}}})", POINT(50, 50)},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$geoWithin": 1}})", 2},
    {R"({"a": {"$geoWithin": {}}})", 2},
    {R"({"a": {"$geoWithin": {"$box": [[0, 0]]}}})", 2},
    {R"({"a": {"$geoWithin": {"$box": [[0, 0], ["x", 1]]}}})", 2},
    {R"({"a": {"$geoWithin": {"$center": [[0, 0], -1]}}})", 2},
    {R"({"a": {"$geoWithin": {"$centerSphere": [[0, 91], 1]}}})", 2},
    {R"({"a": {"$geoWithin": {"$geometry": {"type": "Point", "coordinates": [0, 0]}}}})", 2},
    {R"({"a": {"$geoWithin": {"$geometry": {"type": "Polygon",
        "coordinates": [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]]}}}})",
     2},
    {R"({"a": {"$geoWithin": {"$geometry": {"type": "Polygon",
        "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]}}}})",
     2},
    {R"({"a": {"$geoIntersects": {"$box": [[0, 0], [1, 1]]}}})", 2},
    {R"({"a": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [181, 0]}}}})", 2},
    {R"({"a": {"$geoIntersects": {"$geometry": {"type": "GeometryCollection",
        "geometries": []}}}})",
     2},
    {R"({"a": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [0, 0]}},
        "$eq": 1}})",
     2},
    {R"({"a": {"$near": {"$box": [[0, 0], [1, 1]]}}})", 2},
    {R"({"a": {"$near": [0, 0]}})", 291},
};

TEST(Geo, Matches) { CheckCases(kCases); }
TEST(Geo, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::match
