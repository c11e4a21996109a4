// $bitsAllClear $bitsAllSet $bitsAnyClear $bitsAnySet.
#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

constexpr Case kCases[] = {
    {R"({"a": {"$bitsAllSet": 5}})", R"({"a": 7})"},
    {R"({"a": {"$bitsAllSet": 5}})", R"({"a": 4})", false},
    {R"({"a": {"$bitsAllSet": [0, 2]}})", R"({"a": 5.0})"},
    {R"({"a": {"$bitsAllSet": [0, 200]}})", R"({"a": -1})"},
    {R"({"a": {"$bitsAllSet": [0, 200]}})", R"({"a": 1})", false},
    {R"({"a": {"$bitsAllSet": 1}})", R"({"a": 1.5})", false},
    {R"({"a": {"$bitsAllSet": 1}})", R"({"a": "1"})", false},
    {R"({"a": {"$bitsAllSet": {"$binary": {"base64": "AQI=", "subType": "00"}}}})",
     R"({"a": 513})"},
    {R"({"a": {"$bitsAnySet": 6}})", R"({"a": 2})"},
    {R"({"a": {"$bitsAnySet": 6}})", R"({"a": 1})", false},
    {R"({"a": {"$bitsAnySet": []}})", R"({"a": 1})", false},
    {R"({"a": {"$bitsAllSet": []}})", R"({"a": 1})"},
    {R"({"a": {"$bitsAllClear": 6}})", R"({"a": 1})"},
    {R"({"a": {"$bitsAllClear": 6}})", R"({"a": 3})", false},
    {R"({"a": {"$bitsAnyClear": 6}})", R"({"a": 3})"},
    {R"({"a": {"$bitsAnyClear": 6}})", R"({"a": 7})", false},
    {R"({"a": {"$bitsAllSet": [9]}})",
     R"({"a": {"$binary": {"base64": "AAI=", "subType": "00"}}})"},
    {R"({"a": {"$bitsAnyClear": [99]}})",
     R"({"a": {"$binary": {"base64": "//8=", "subType": "00"}}})"},
    {R"({"a": {"$bitsAllSet": 2}})", R"({"a": [1, 2]})"},
};

constexpr ErrorCase kErrors[] = {
    {R"({"a": {"$bitsAllSet": -1}})", 9},    {R"({"a": {"$bitsAllSet": 1.5}})", 9},
    {R"({"a": {"$bitsAllSet": "1"}})", 2},   {R"({"a": {"$bitsAllSet": [-1]}})", 2},
    {R"({"a": {"$bitsAllSet": [1.5]}})", 2}, {R"({"a": {"$bitsAllSet": ["1"]}})", 2},
};

TEST(Bitwise, Matches) { CheckCases(kCases); }
TEST(Bitwise, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::match
