// Field paths, objects, arrays, folding, dependencies and unknown operators.
#include "query/expr/expression.h"

#include "query/expr/table.h"
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(Expression, FieldPaths) {
  constexpr std::string_view kDocument =
      R"({"a": {"b": [{"c": 1}, {"d": 2}, {"c": 3}, [{"c": 4}], 5]}, "0": "zero", "n": null})";
  const Case cases[] = {
      {R"("$a.b.c")", "[1, 3]", kDocument},  {R"("$a.b.0")", "[]", kDocument},
      {R"("$0")", R"("zero")", kDocument},   {R"("$n")", "null", kDocument},
      {R"("$n.x")", "", kDocument},          {R"("$none.x.y")", "", kDocument},
      {R"("text")", R"("text")", kDocument}, {R"("")", R"("")", kDocument},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {
      {R"("$")", 16872},   {R"("$a.")", 40353},   {R"("$a..b")", 15998},
      {R"("$.a")", 15998}, {R"("$a.$b")", 16410}, {R"("$a\u0000")", 16411},
  };
  CheckErrors(errors);
}

TEST(Expression, ObjectsAndArrays) {
  const Case cases[] = {
      {R"({"x": "$a", "y": {"z": ["$a", "$none"]}})", R"({"x": 1, "y": {"z": [1, null]}})",
       R"({"a": 1})"},
      {R"({"x": "$none"})", "{}"},
      {R"([])", "[]"},
      {R"({})", "{}"},
  };
  CheckCases(cases);
  const ErrorCase errors[] = {
      {R"({"$add": [1], "b": 2})", 15983},
      {R"({"b": 2, "$add": [1]})", 16410},
      {R"({"a.b": 1})", 16412},
      {R"({"": 1})", 15998},
      {R"({"$nothing": 1})", 168},
  };
  CheckErrors(errors);
}

TEST(Expression, KnownButUnsupportedOperatorsSaySo) {
  const absl::StatusOr<bson::Document> got = EvaluateJson(R"({"$function": {}})", "{}");
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(CodeOf(got.status()), ErrorCode::kCommandNotSupported);
  EXPECT_NE(MessageOf(got.status()).find("$function"), std::string_view::npos);
}

TEST(Expression, FoldsConstants) {
  const QueryContext context;
  const struct {
    std::string_view expression;
    bool constant;
  } cases[] = {
      {R"({"$add": [1, {"$multiply": [2, 3]}]})", true},
      {R"({"x": [1, {"$concat": ["a", "b"]}]})", true},
      {R"({"$add": [1, "$a"]})", false},
      {R"({"$rand": {}})", false},
      {R"({"$map": {"input": [1, 2], "in": {"$add": ["$$this", 1]}}})", false},
      {R"({"$cond": [true, 1, 2]})", true},
  };
  for (const auto& test : cases) {
    const bson::Document spec = Wrap(test.expression);
    const absl::StatusOr<ExpressionPtr> parsed = Expression::Parse(spec["v"], context);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ((*parsed)->Constant().has_value(), test.constant) << test.expression;
  }
  // The error of a constant part comes when it is parsed, whichever branch it is in.
  const bson::Document spec = Wrap(R"({"$ifNull": ["$a", {"$divide": [1, 0]}]})");
  EXPECT_EQ(CodeOf(Expression::Parse(spec["v"], context).status()), ErrorCode::kBadValue);
}

TEST(Expression, ReportsWhatItReads) {
  const QueryContext context;
  const struct {
    std::string_view expression;
    std::string_view fields;  // joined by spaces; "*" for all
  } cases[] = {
      {R"({"$add": ["$a.b", "$c", "$a.d"]})", "a c"},
      {R"("$$ROOT")", "*"},
      {R"("$$ROOT.x.y")", "x"},
      {R"({"$let": {"vars": {"v": "$q"}, "in": "$$v.r"}})", "q"},
      {R"({"$map": {"input": "$list", "in": {"$add": ["$$this", "$n"]}}})", "list n"},
      {R"(1)", ""},
  };
  for (const auto& test : cases) {
    const bson::Document spec = Wrap(test.expression);
    const absl::StatusOr<ExpressionPtr> parsed = Expression::Parse(spec["v"], context);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    Dependencies dependencies;
    (*parsed)->AddDependencies(dependencies);
    std::string fields;
    if (const auto top = dependencies.TopLevelFields()) {
      for (const std::string& field : *top) fields += (fields.empty() ? "" : " ") + field;
    } else {
      fields = "*";
    }
    EXPECT_EQ(fields, test.fields) << test.expression;
  }
}

TEST(Expression, OneEvaluationServesManyDocuments) {
  const QueryContext context;
  const bson::Document spec = Wrap(R"({"$concat": ["$a", "!"]})");
  const absl::StatusOr<ExpressionPtr> parsed = Expression::Parse(spec["v"], context);
  ASSERT_TRUE(parsed.ok());
  Evaluation evaluation(context);
  for (int i = 0; i < 1000; ++i) {
    bson::Builder builder;
    builder.Append("a", std::string(static_cast<size_t>(i), 'x'));
    const bson::Document document = builder.Finish();
    evaluation.Begin(document);
    const absl::StatusOr<bson::Value> value = (*parsed)->Evaluate(evaluation);
    ASSERT_TRUE(value.ok());
    EXPECT_EQ(value->AsString().size(), static_cast<size_t>(i) + 1);
  }
}

}  // namespace
}  // namespace evenkeel::query::expr
