// A projection that lets fields of the rows' own through.
#include "query/exec/carry.h"

#include "tests/unit/query/exec/rows.h"

namespace evenkeel::query {
namespace {

TEST(CarryingProject, KeepsWhatIsNamed) {
  const QueryContext context;
  const std::vector<bson::Document> input =
      Documents(R"([{"_id": 1, "a": 2, "b": 3, "$recordId": 5, "$sortKey": [9]}, {"_id": 2}])");
  const struct {
    std::string_view projection, rows;
  } cases[] = {
      {R"({"a": 1})", R"([{"_id": 1, "a": 2, "$recordId": 5, "$sortKey": [9]}, {"_id": 2}])"},
      {R"({"a": 0, "_id": 0})", R"([{"b": 3, "$recordId": 5, "$sortKey": [9]}, {}])"},
  };
  for (const auto& test : cases) {
    const auto projection =
        Projection::Parse(expr::FromJsonOrDie(test.projection), ProjectionKind::kFind, context);
    ASSERT_TRUE(projection.ok());
    CarryingProjectOperator chain(Queue(input), *projection, nullptr, {kRecordIdField, "$sortKey"});
    EXPECT_EQ(RunJson(chain), JsonLines(test.rows)) << test.projection;
  }
}

}  // namespace
}  // namespace evenkeel::query
