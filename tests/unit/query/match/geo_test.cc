// Operators on places: known, and refused as not supported.
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$geoWithin": {}}})", 115},
    {R"({"a": {"$near": [1, 2]}})", 115},
    {R"({"$geoWithin": {}})", 2},
};

TEST(Geo, IsNotSupported) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::match
