// Paths of updates: conflicts, names, positional operators where they may not stand.
#include "query/update/tree.h"

#include "tests/unit/query/update/cases.h"

namespace evenkeel::query::update {
namespace {

constexpr ErrorCase kErrors[] = {
    {R"({"$set": {"a": 1}, "$inc": {"a": 1}})", 40},
    {R"({"$set": {"a": 1, "a.b": 1}})", 40},
    {R"({"$set": {"a.b": 1, "a": 1}})", 40},
    {R"({"$set": {"a.$[]": 1, "a.b": 1}})", 40},
    {R"({"$set": {"a.b": 1, "a.$[]": 1}})", 40},
    {R"({"$rename": {"a": "b"}, "$set": {"b": 1}})", 40},
    {R"({"$rename": {"a": "b", "b": "c"}})", 40},
    {R"({"$set": {"": 1}})", 56},
    {R"({"$set": {"a..b": 1}})", 56},
    {R"({"$set": {"a.": 1}})", 56},
    {R"({"$unset": {".a": 1}})", 56},
    {R"({"$set": {"$a": 1}})", 52},
    {R"({"$set": {"$": 1}})", 2},
    {R"({"$set": {"$[].a": 1}})", 2},
    {R"({"$set": {"a.$.b.$": 1}})", 2},
};

constexpr Case kCases[] = {
    {R"({"$set": {"a.b": 1, "a.c": 2, "ab": 3}})", R"({"_id": 1})",
     R"({"_id": 1, "a": {"b": 1, "c": 2}, "ab": 3})"},
    {R"({"$set": {"a.$bad": 1}})", R"({"_id": 1})", R"({"_id": 1, "a": {"$bad": 1}})"},
    {R"({"$unset": {"$a": 1}})", R"({"_id": 1})", ""},
};

TEST(Tree, RefusesPaths) { CheckErrors(kErrors); }
TEST(Tree, AcceptsPaths) { CheckCases(kCases); }

TEST(Tree, NumbersInPathsComeInOrderOfTheirValues) {
  EXPECT_LT(ComparePathParts("9", "10"), 0);
  EXPECT_GT(ComparePathParts("a9", "a10"), 0);
  EXPECT_LT(ComparePathParts("10", "a"), 0);
  EXPECT_EQ(ComparePathParts("7", "7"), 0);
}

}  // namespace
}  // namespace evenkeel::query::update
