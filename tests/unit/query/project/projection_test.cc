// What a projection says about itself.
#include "query/project/projection.h"

#include "tests/unit/query/project/cases.h"

namespace evenkeel::query::project {
namespace {

TEST(Projection, NamesTheFieldsItNeeds) {
  struct NeedCase {
    std::string_view spec;
    ProjectionKind kind;
    std::string_view needed;
  };
  constexpr NeedCase kCases[] = {
      {R"({"a": 1, "b.c": 1})", ProjectionKind::kFind, "_id a b "},
      {R"({"a": 1, "_id": 0})", ProjectionKind::kFind, "a "},
      {R"({"x": {"$add": ["$p.q", "$r"]}, "a.b": "$s", "_id": 0})", ProjectionKind::kProjectStage,
       "a p r s "},
      {R"({"a": 0})", ProjectionKind::kFind, "all"},
      {R"({"x": "$$ROOT"})", ProjectionKind::kFind, "all"},
      {R"({"a.$": 1})", ProjectionKind::kFind, "all"},
      {R"({"x": 1})", ProjectionKind::kAddFields, "all"},
      {R"({})", ProjectionKind::kFind, "all"},
  };
  const QueryContext context;
  for (const NeedCase& test : kCases) {
    const absl::StatusOr<Projection> projection =
        Projection::Parse(Json(test.spec), test.kind, context);
    ASSERT_TRUE(projection.ok()) << test.spec << projection.status();
    std::string shown;
    const std::optional<std::vector<std::string>> fields = projection->NeededFields();
    if (!fields) shown = "all";
    for (const std::string& field : fields.value_or(std::vector<std::string>()))
      shown += field + " ";
    EXPECT_EQ(shown, test.needed) << test.spec;
  }
}

TEST(Projection, KnowsWhetherItNeedsTheFilter) {
  const QueryContext context;
  EXPECT_TRUE(
      Projection::Parse(Json(R"({"a.$": 1})"), ProjectionKind::kFind, context)->NeedsFilter());
  EXPECT_FALSE(
      Projection::Parse(Json(R"({"a": 1})"), ProjectionKind::kFind, context)->NeedsFilter());
}

TEST(Projection, ReportsAFailingExpression) {
  const ErrorCase cases[] = {{R"({"x": {"$divide": [1, "$a"]}})", 2, R"({"a": 0})"}};
  CheckErrors(ProjectionKind::kFind, cases);
}

}  // namespace
}  // namespace evenkeel::query::project
