// What arrayFilters may hold.
#include "tests/unit/query/update/cases.h"

namespace evenkeel::query::update {
namespace {

constexpr std::string_view kUpdate = R"({"$set": {"a.$[x]": 1}})";

constexpr ErrorCase kErrors[] = {
    {kUpdate, 2, R"({"_id": 1})", "{}", R"({"f": []})"},
    {kUpdate, 9, R"({"_id": 1})", "{}", R"({"f": [{}]})"},
    {kUpdate, 9, R"({"_id": 1})", "{}", R"({"f": [{"x": 1, "y": 2}]})"},
    {kUpdate, 9, R"({"_id": 1})", "{}", R"({"f": [{"x": 1}, {"x": 2}]})"},
    {kUpdate, 9, R"({"_id": 1})", "{}", R"({"f": [{"x": 1}, {"y": 2}]})"},
    {kUpdate, 2, R"({"_id": 1})", "{}", R"({"f": [{"X": 1}]})"},
    {kUpdate, 14, R"({"_id": 1})", "{}", R"({"f": [1]})"},
    {kUpdate, 224, R"({"_id": 1})", "{}", R"({"f": [{"$expr": {"$eq": [1, 1]}}]})"},
    {R"({"a": 1})", 9, R"({"_id": 1})", "{}", R"({"f": [{"x": 1}]})"},
};

TEST(ArrayFilters, Errors) { CheckErrors(kErrors); }

TEST(ArrayFilters, MayCombineConditions) {
  constexpr Case kCases[] = {
      {kUpdate, R"({"_id": 1, "a": [0, 5, 9]})", R"({"_id": 1, "a": [1, 5, 1]})", "{}",
       R"({"f": [{"$or": [{"x": 0}, {"x": {"$gt": 8}}]}]})"},
  };
  CheckCases(kCases);
}

}  // namespace
}  // namespace evenkeel::query::update
