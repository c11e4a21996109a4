// $bit.
#include "tests/unit/query/update/cases.h"

namespace evenkeel::query::update {
namespace {

constexpr Case kCases[] = {
    {R"({"$bit": {"a": {"and": 6}}})", R"({"_id": 1, "a": 3})", R"({"_id": 1, "a": 2})"},
    {R"({"$bit": {"a": {"or": 4}}})", R"({"_id": 1, "a": 3})", R"({"_id": 1, "a": 7})"},
    {R"({"$bit": {"a": {"xor": 1}}})", R"({"_id": 1, "a": 3})", R"({"_id": 1, "a": 2})"},
    {R"({"$bit": {"a": {"or": 1, "xor": 3}}})", R"({"_id": 1})", R"({"_id": 1, "a": 2})"},
    {R"({"$bit": {"a": {"or": {"$numberLong": "4"}}}})", R"({"_id": 1, "a": 1})",
     R"({"_id": 1, "a": {"$numberLong": "5"}})"},
    {R"({"$bit": {"a": {"or": 1}}})", R"({"_id": 1, "a": 3})", ""},
};

constexpr ErrorCase kErrors[] = {
    {R"({"$bit": {"a": 1}})", 2},
    {R"({"$bit": {"a": {}}})", 2},
    {R"({"$bit": {"a": {"not": 1}}})", 2},
    {R"({"$bit": {"a": {"and": 1.0}}})", 2},
    {R"({"$bit": {"a": {"and": 1}}})", 2, R"({"_id": 1, "a": 1.5})"},
};

TEST(Bit, Applies) { CheckCases(kCases); }
TEST(Bit, Errors) { CheckErrors(kErrors); }

}  // namespace
}  // namespace evenkeel::query::update
