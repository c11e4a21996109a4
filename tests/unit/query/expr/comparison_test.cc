// Comparison operators over values of one type and of several.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Comparison, Operators) {
  const Case cases[] = {
      {R"({"$cmp": [1, 2]})", "-1"},
      {R"({"$cmp": ["b", "a"]})", "1"},
      {R"({"$cmp": [1, 1.0]})", "0"},
      {R"({"$eq": [1, {"$numberLong": "1"}]})", "true"},
      {R"({"$eq": ["$none", null]})", "false"},
      {R"({"$ne": [[1], [1, 2]]})", "true"},
      {R"({"$gt": ["a", 5]})", "true"},
      {R"({"$gte": [5, 5]})", "true"},
      {R"({"$lt": [null, 1]})", "true"},
      {R"({"$lte": [{"a": 1}, {"a": 2}]})", "true"},
      {R"({"$lt": ["$none", null]})", "true"},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {{R"({"$eq": [1]})", 16020}, {R"({"$cmp": [1, 2, 3]})", 16020}};
  CheckErrors(errors);
}

// Compares without regard to case.
class NoCase final : public bson::StringComparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    return SortKey(a).compare(SortKey(b));
  }
  std::string SortKey(std::string_view text) const override {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  }
};

TEST(Comparison, UsesTheCollation) {
  const NoCase no_case;
  QueryContext context;
  context.collation = &no_case;
  const Case cases[] = {
      {R"({"$eq": ["abc", "ABC"]})", "true"},
      {R"({"$in": ["B", ["a", "b"]]})", "true"},
      {R"({"$setUnion": [["a"], ["A"]]})", R"(["a"])"},
      {R"({"$max": ["a", "B"]})", R"("B")"},
  };
  CheckCases(cases, context);
}

}  // namespace
}  // namespace evenkeel::query::expr
