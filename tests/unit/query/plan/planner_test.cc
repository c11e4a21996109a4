// Which plan is chosen.
#include "query/plan/planner.h"

#include <cctype>

#include "tests/unit/query/plan/plan_cases.h"

namespace evenkeel::query {
namespace {

IndexDescription Index(std::string_view name, std::string_view key) {
  IndexDescription index;
  index.name = std::string(name);
  const bson::Document pattern = Json(key);
  for (const bson::Element& field : pattern.view()) {
    const bool hashed = field.value.Is(bson::Type::kString);
    index.fields.push_back({bson::Path(field.key), hashed || field.value.AsInt32() > 0});
    index.hashed.push_back(hashed);
  }
  return index;
}

// The indexes of these tests by name.
std::vector<IndexDescription> Indexes() {
  std::vector<IndexDescription> indexes = {
      Index("_id_", R"({"_id": 1})"),
      Index("a", R"({"a": 1})"),
      Index("b_c", R"({"b": 1, "c": -1})"),
      Index("h", R"({"h": "hashed"})"),
      Index("m.x_m.y", R"({"m.x": 1, "m.y": 1})"),
      Index("s", R"({"s": 1})"),
      Index("u", R"({"u": 1})"),
  };
  indexes[0].unique = indexes[6].unique = true;
  indexes[4].multikey = true;
  indexes[5].sparse = true;
  return indexes;
}

struct PlanCase {
  std::string_view filter;
  std::string_view plan;  // see ShowPlan
  std::string_view sort = "{}";
  std::string_view hint = "{}";  // {"hint": …}
};

// "b_c [1,1] [*,*] reverse sorted exact".
std::string ShowPlan(const Plan& plan) {
  std::string out;
  switch (plan.kind) {
    case PlanKind::kNothing:
      return "nothing";
    case PlanKind::kById:
      out = "ids";
      for (const bson::OwnedValue& id : plan.ids) out += " " + bson::ToDisplay(id);
      break;
    case PlanKind::kIndexScan:
      out = plan.index->name;
      for (const IntervalList& list : plan.bounds) out += " " + Show(list);
      break;
    case PlanKind::kCollectionScan:
      out = "scan";
      break;
  }
  if (plan.reverse) out += " reverse";
  if (plan.sorted) out += " sorted";
  if (plan.exact) out += " exact";
  return out;
}

absl::StatusOr<Plan> Choose(const PlanCase& test, const std::vector<IndexDescription>& indexes) {
  const QueryContext context;
  const Filter filter = ParseFilter(test.filter, context);
  const SortPattern sort = *SortPattern::Parse(Json(test.sort));
  const bson::Document hint = Json(test.hint);
  return ChoosePlan({&filter, &sort, hint["hint"]}, indexes);
}

constexpr PlanCase kCases[] = {
    {"{}", "scan exact"},
    {R"({"z": 1})", "scan"},
    {R"({"_id": 5})", "ids 5 sorted exact"},
    {R"({"_id": 5, "a": 1})", "ids 5 sorted"},
    {R"({"_id": {"$in": [2, 1]}})", "ids 1 2 exact"},
    {R"({"_id": {"$in": [2, 1]}})", "ids 1 2 reverse sorted exact", R"({"_id": -1})"},
    {R"({"_id": {"$gt": 5}})", "_id_ (5,Infinity] exact"},
    {R"({"_id": {"$in": []}})", "nothing"},
    {R"({"a": 1})", "a [1,1] exact"},
    {R"({"a": {"$gt": 1, "$lt": 5}})", "a (1,5) exact"},
    {R"({"a": {"$gt": 5, "$lt": 1}})", "nothing"},
    {R"({"a": null})", "a [null,null]"},
    {R"({"a": 1, "z": 1})", "a [1,1]"},
    {R"({"a": {"$ne": 1}})", "scan"},
    {R"({"$or": [{"a": 1}, {"z": 1}]})", "scan"},
    {R"({"$or": [{"a": 1}, {"a": 3}]})", "a [1,1] [3,3] exact"},
    {R"({"b": 1})", "b_c [1,1] exact"},
    {R"({"c": 1})", "scan"},
    {R"({"b": 1, "c": {"$gt": 2}})", "b_c [1,1] (2,Infinity] exact"},
    {R"({"b": {"$gt": 1}, "c": 2})", "b_c (1,Infinity]"},
    {R"({"b": {"$in": [1, 2]}, "c": 2})", "b_c [1,1] [2,2] [2,2] exact"},
    {R"({"a": {"$gt": 0}, "b": 1, "c": 1})", "b_c [1,1] [1,1]"},
    {R"({"h": 5})", "h [5,5]"},
    {R"({"h": {"$gt": 5}})", "scan"},
    {R"({"m.x": 1, "m.y": 2})", "m.x_m.y [1,1]"},
    {R"({"m.x": {"$gt": 1, "$lt": 5}})", "m.x_m.y [-Infinity,5)"},
    {R"({"s": 1})", "s [1,1] exact"},
    {R"({"s": null})", "scan"},
    {R"({"a": 1, "u": 1})", "u [1,1]"},
    {"{}", "a sorted exact", R"({"a": 1})"},
    {"{}", "a reverse sorted exact", R"({"a": -1})"},
    {"{}", "scan exact", R"({"s": 1})"},
    {"{}", "scan exact", R"({"m.x": 1})"},
    {"{}", "b_c sorted exact", R"({"b": 1, "c": -1})"},
    {"{}", "b_c reverse sorted exact", R"({"b": -1, "c": 1})"},
    {"{}", "scan exact", R"({"b": 1, "c": 1})"},
    {R"({"b": 1})", "b_c [1,1] reverse sorted exact", R"({"c": 1})"},
    {R"({"b": 1})", "b_c [1,1] sorted exact", R"({"c": -1, "b": 1})"},
    {R"({"b": {"$in": [1, 2]}})", "b_c [1,1] [2,2] exact", R"({"c": 1})"},
    {R"({"b": 1})", "b_c [1,1] exact", R"({"a": 1})"},
    {R"({"a": 1})", "scan", "{}", R"({"hint": {"$natural": 1}})"},
    {R"({"a": 1})", "scan reverse", "{}", R"({"hint": {"$natural": -1}})"},
    {R"({"a": 1})", "b_c", "{}", R"({"hint": "b_c"})"},
    {R"({"a": 1})", "b_c", "{}", R"({"hint": {"b": 1, "c": -1}})"},
    {R"({"a": 1})", "a [1,1] exact", "{}", R"({"hint": {}})"},
    {R"({"h": 1})", "h [1,1]", "{}", R"({"hint": {"h": "hashed"}})"},
    {R"({})", "s", "{}", R"({"hint": "s"})"},
};

TEST(Planner, Chooses) {
  const std::vector<IndexDescription> indexes = Indexes();
  for (const PlanCase& test : kCases) {
    const absl::StatusOr<Plan> plan = Choose(test, indexes);
    ASSERT_TRUE(plan.ok()) << test.filter << plan.status();
    EXPECT_EQ(ShowPlan(*plan), test.plan)
        << test.filter << " sort " << test.sort << " " << test.hint;
  }
}

TEST(Planner, RefusesBadHints) {
  const std::vector<IndexDescription> indexes = Indexes();
  for (const std::string_view hint :
       {R"({"hint": "nope"})", R"({"hint": {"b": 1}})", R"({"hint": {"b": 1, "c": 1}})",
        R"({"hint": {"$natural": 2}})", R"({"hint": {"$natural": 1, "a": 1}})",
        R"({"hint": {"h": 1}})"}) {
    EXPECT_EQ(CodeOf(Choose({"{}", "", "{}", hint}, indexes).status()), ErrorCode::kBadValue)
        << hint;
  }
}

// Sort keys in lower case: what a case-insensitive collation does to ASCII.
class NoCase final : public bson::StringComparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override {
    return SortKey(a).compare(SortKey(b));
  }
  std::string SortKey(std::string_view text) const override {
    std::string key(text);
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return key;
  }
};

TEST(Planner, UsesAnIndexOfTheSameCollationOnly) {
  const NoCase rules, others;
  std::vector<IndexDescription> indexes = {Index("_id_", R"({"_id": 1})"),
                                           Index("c", R"({"c": 1})")};
  indexes[0].collation = indexes[1].collation = &rules;
  const struct {
    const bson::StringComparator* collation;
    std::string_view filter, sort, plan;
  } cases[] = {
      {&rules, R"({"c": "Ab"})", "{}", R"(c ["ab","ab"] exact)"},
      {&rules, R"({"c": {"$in": ["B", "a", 5]}})", "{}", R"(c [5,5] ["a","a"] ["b","b"] exact)"},
      {&rules, R"({"c": {"$gte": "B"}})", "{}", R"(c ["b",{}) exact)"},
      {&rules, R"({"c": {"x": "B"}})", "{}", R"(c [{ x: "b" },{ x: "b" }] exact)"},
      {&rules, R"({"c": {"$regex": "^Ab"}})", "{}", R"(c ["",{}) [/^Ab/,/^Ab/])"},
      {&rules, "{}", R"({"c": 1})", "c sorted exact"},
      {&rules, R"({"_id": "A"})", "{}", R"(_id_ ["a","a"] exact)"},
      {nullptr, R"({"c": "Ab"})", "{}", "scan"},
      {nullptr, R"({"c": 5})", "{}", "c [5,5] exact"},
      {nullptr, "{}", R"({"c": 1})", "scan exact"},
      {nullptr, R"({"_id": "A"})", "{}", "scan"},
      {nullptr, R"({"_id": 7})", "{}", "ids 7 sorted exact"},
      {&others, R"({"c": "Ab"})", "{}", "scan"},
      {&others, R"({"c": 5})", "{}", "c [5,5] exact"},
      {&others, "{}", R"({"c": 1})", "scan exact"},
  };
  for (const auto& test : cases) {
    QueryContext context;
    context.collation = test.collation;
    const Filter filter = ParseFilter(test.filter, context);
    const auto sort = SortPattern::Parse(Json(test.sort));
    ASSERT_TRUE(sort.ok());
    PlanRequest request;
    request.filter = &filter;
    request.sort = &*sort;
    request.collation = test.collation;
    const auto plan = ChoosePlan(request, indexes);
    ASSERT_TRUE(plan.ok()) << test.filter;
    EXPECT_EQ(ShowPlan(*plan), test.plan) << test.filter << " " << test.sort;
  }
}

TEST(Planner, UsesPartialIndexesWhereTheyHoldEverything) {
  const QueryContext context;
  const Filter partial = ParseFilter(R"({"n": {"$gt": 10}})", context);
  std::vector<IndexDescription> indexes = {Index("p", R"({"p": 1})")};
  indexes[0].partial = &partial;
  EXPECT_EQ(ShowPlan(*Choose({R"({"p": 1, "n": 20})", ""}, indexes)), "p [1,1]");
  EXPECT_EQ(ShowPlan(*Choose({R"({"p": 1, "n": {"$gte": 11}})", ""}, indexes)), "p [1,1]");
  EXPECT_EQ(ShowPlan(*Choose({R"({"p": 1, "n": 5})", ""}, indexes)), "scan");
  EXPECT_EQ(ShowPlan(*Choose({R"({"p": 1})", ""}, indexes)), "scan");
  EXPECT_EQ(CodeOf(Choose({R"({"p": 1})", "", "{}", R"({"hint": "p"})"}, indexes).status()),
            ErrorCode::kNoQueryExecutionPlans);
}

}  // namespace
}  // namespace evenkeel::query
