// Parsing of filters: what stands where.
#include "query/match/op.h"

#include "tests/unit/query/match/cases.h"

namespace evenkeel::query::match {
namespace {

constexpr ErrorCase kErrors[] = {
    {R"({"$nope": 1})", 2},
    {R"({"$gt": 1})", 2},
    {R"({"a": {"$nope": 1}})", 2},
    {R"({"a": {"$gt": 1, "b": 2}})", 2},
    {R"({"a": {"$gt": 1, "$or": []}})", 2},
    {R"({"a": {"$expr": 1}})", 2},
};

TEST(Op, Errors) { CheckErrors(kErrors); }

TEST(Op, ADocumentWithOperatorsBehindFieldsIsAValue) {
  constexpr Case kCases[] = {
      {R"({"a": {"b": 1, "$gt": 2}})", R"({"a": {"b": 1, "$gt": 2}})"},
      {R"({"a": {"$id": 1}})", R"({"a": {"$id": 1}})"},
  };
  CheckCases(kCases);
}

TEST(Op, ConjunctionsAreFlat) {
  const QueryContext context;
  const Filter filter = ParseOrDie(
      R"({"$and": [{"$and": [{"a": 1}, {"b": 1}]}, {"c": {"$gt": 1, "$lt": 2}}]})", context);
  ASSERT_EQ(filter.root().kind(), MatchKind::kAnd);
  EXPECT_EQ(static_cast<const LogicalNode&>(filter.root()).children().size(), 4u);
}

}  // namespace
}  // namespace evenkeel::query::match
