// The distinct command's fields.
#include "query/request/distinct_request.h"

#include "tests/unit/query/request/cases.h"

namespace evenkeel::query {
namespace {

constexpr CommandCase kCases[] = {
    {R"({"distinct": "c", "key": "a.b"})"},
    {R"({"distinct": "c"})", 40414},
    {R"({"distinct": "c", "key": null})", 40414},
    {R"({"distinct": "c", "key": 1})", 14},
    {R"({"distinct": "c", "key": "a", "query": 1})", 14},
    {R"({"distinct": "c", "key": "a", "hint": true})", 9},
    {R"({"distinct": "c", "key": "a", "nope": 1})", 40415},
};

TEST(DistinctRequest, Errors) { CheckCommands(ParseDistinct, kCases); }

}  // namespace
}  // namespace evenkeel::query
