// $geoIntersects $geoWithin: shapes, stored forms, edges and errors; $near without an index.
#include <utility>

#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

// Geometries that several cases name by a letter behind '@'.
constexpr std::pair<char, std::string_view> kGeometries[] = {
    {'A',
     R"({"type": "Polygon", "coordinates": [[[-9, -9], [9, -9], [9, 9], [-9, 9], [-9, -9]]]})"},
    {'H', R"({"type": "Polygon", "coordinates": [[[-9, -9], [9, -9], [9, 9], [-9, 9], [-9, -9]],
        [[-2, -2], [2, -2], [2, 2], [-2, 2], [-2, -2]]]})"},
    {'S', R"({"type": "Polygon", "coordinates": [[[-9, -9], [-9, 9], [9, 9], [9, -9], [-9, -9]]],
        "crs": {"type": "name",
                "properties": {"name": "urn:x-mongodb:crs:strictwinding:EPSG:4326"}}})"},
    {'L', R"({"type": "LineString", "coordinates": [[5, 5], [15, 5]]})"},
    {'O', R"({"type": "Point", "coordinates": [1, 1]})"},
    {'P', R"({"type": "Point", "coordinates": [5, 5]})"},
    {'Q', R"({"type": "Point", "coordinates": [50, 50]})"},
};

std::string Expand(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '@') {
      out += text[i];
      continue;
    }
    ++i;
    for (const auto& [letter, geometry] : kGeometries) {
      if (letter == text[i]) out += geometry;
    }
  }
  return out;
}

constexpr Case kCases[] = {
    {R"({"$geoWithin": {"$box": [[10, 0], [0, 10]]}})", "[10, 5, 99]"},
    {R"({"$geoWithin": {"$box": [[0, 0], [10, 10]]}})", R"({"x": 1, "y": 11})", false},
    {R"({"$geoWithin": {"$box": [[0, 0], [10, 10]]}})", "[[20, 20], [1, 1]]"},
    {R"({"$geoWithin": {"$box": [[0, 0], [10, 10]]}})", "@P"},
    {R"({"$geoWithin": {"$box": [[0, 0], [20, 20]]}})", "@L", false},
    {R"({"$geoWithin": {"$center": [[0, 0], 5]}})", "[3, 4]"},
    {R"({"$geoWithin": {"$center": [[0, 0], 5]}})", "[4, 4]", false},
    {R"({"$geoWithin": {"$polygon": [[0, 0], [4, 0], [0, 4]]}})", "[1, 1]"},
    {R"({"$geoWithin": {"$polygon": [[0, 0], [4, 0], [0, 4]]}})", "[2, 2]"},
    {R"({"$geoWithin": {"$polygon": [[0, 0], [4, 0], [0, 4]]}})", "[3, 3]", false},
    {R"({"$geoWithin": {"$centerSphere": [[0, 5], 0.1]}})", "@P"},
    {R"({"$geoWithin": {"$centerSphere": [[0, 5], 0.1]}})", "[6, 5]", false},
    {R"({"$within": {"$geometry": @A}})", "@P"},
    {R"({"$geoWithin": {"$geometry": @A}})", R"("x")", false},
    {R"({"$geoWithin": {"$geometry": @A}})", "@L", false},
    {R"({"$geoIntersects": {"$geometry": @A}})", "@L"},
    {R"({"$geoIntersects": {"$geometry": @L}})", "@A"},
    {R"({"$geoIntersects": {"$geometry": @H}})", "@O", false},
    {R"({"$geoIntersects": {"$geometry": @H}})", "@P"},
    {R"({"$geoIntersects": {"$geometry": @S}})", "@Q"},
    {R"({"$geoIntersects": {"$geometry": @S}})", "@O", false},
    {R"({"$geoIntersects": {"$geometry": @O}})", "[1, 1]"},
    {R"({"$not": {"$geoIntersects": {"$geometry": @A}}})", "@Q"},
    {R"({"$geoIntersects": {"$geometry":
        {"type": "GeometryCollection", "geometries": [@Q, @L]}}})",
     "@P"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"$geoWithin": 1})", 2},
    {R"({"$geoWithin": {}})", 2},
    {R"({"$geoWithin": {"$box": [[0, 0]]}})", 2},
    {R"({"$geoWithin": {"$box": [[0, 0], ["x", 1]]}})", 2},
    {R"({"$geoWithin": {"$box": [[0, 0], [1, 1]], "$center": [[0, 0], 1]}})", 2},
    {R"({"$geoWithin": {"$center": [[0, 0], -1]}})", 2},
    {R"({"$geoWithin": {"$centerSphere": [[0, 91], 1]}})", 2},
    {R"({"$geoWithin": {"$geometry": @P}})", 2},
    {R"({"$geoWithin": {"$geometry": {"type": "Polygon",
        "coordinates": [[[0, 0], [2, 2], [2, 0], [0, 2], [0, 0]]]}}})",
     2},
    {R"({"$geoWithin": {"$geometry": {"type": "Polygon",
        "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]}}})",
     2},
    {R"({"$geoIntersects": {"$box": [[0, 0], [1, 1]]}})", 2},
    {R"({"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [181, 0]}}})", 2},
    {R"({"$geoIntersects": {"$geometry": {"type": "GeometryCollection", "geometries": []}}})", 2},
    {R"({"$geoIntersects": {"$geometry": @P}, "$eq": 1})", 2},
    {R"({"$near": {"$box": [[0, 0], [1, 1]]}})", 2},
    {R"({"$near": [0, 0]})", 291},
};

TEST(Geo, Matches) {
  for (const Case& test : kCases) {
    const std::string filter = R"({"a": )" + Expand(test.filter) + "}";
    const std::string document = R"({"a": )" + Expand(test.document) + "}";
    const Case expanded[] = {{filter, document, test.matches}};
    CheckCases(expanded);
  }
}

TEST(Geo, Errors) {
  for (const ErrorCase& test : kErrors) {
    const std::string filter = R"({"a": )" + Expand(test.filter) + "}";
    const ErrorCase expanded[] = {{filter, test.code}};
    CheckErrors(expanded);
  }
}

}  // namespace
}  // namespace evenkeel::query::match
