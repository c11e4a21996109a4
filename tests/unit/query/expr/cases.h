// Table-driven tests of expressions: an expression, a document, and the result or the error
// expected.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/bson/json.h"
#include "base/status.h"
#include "query/expr/expression.h"

namespace evenkeel::query::expr {

struct Case {
  std::string_view expression;  // Extended JSON of one value
  std::string_view result;      // the same; empty: no value (missing)
  std::string_view document = "{}";
};

struct ErrorCase {
  std::string_view expression;
  int code;
  std::string_view document = "{}";
};

// {"v": <json>} as a document.
inline bson::Document Wrap(std::string_view json) {
  absl::StatusOr<bson::Document> parsed = bson::FromJson("{\"v\": " + std::string(json) + "}");
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.status();
  return parsed.ok() ? *std::move(parsed) : bson::Document();
}

inline bson::Document FromJsonOrDie(std::string_view json) {
  absl::StatusOr<bson::Document> parsed = bson::FromJson(json);
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.status();
  return parsed.ok() ? *std::move(parsed) : bson::Document();
}

// The result as {"v": …}, or the error of parsing or evaluating.
inline absl::StatusOr<bson::Document> EvaluateJson(std::string_view expression,
                                                   std::string_view document,
                                                   const QueryContext& context = {}) {
  const bson::Document spec = Wrap(expression);
  const bson::Document root = FromJsonOrDie(document);
  EVENKEEL_ASSIGN_OR_RETURN(const ExpressionPtr parsed, Expression::Parse(spec["v"], context));
  Evaluation evaluation(context);
  evaluation.Begin(root);
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value value, parsed->Evaluate(evaluation));
  bson::Builder builder;
  builder.Append("v", value);
  return builder.Finish();
}

inline void CheckCases(std::span<const Case> cases, const QueryContext& context = {}) {
  for (const Case& test : cases) {
    const absl::StatusOr<bson::Document> got =
        EvaluateJson(test.expression, test.document, context);
    ASSERT_TRUE(got.ok()) << test.expression << " over " << test.document << ": " << got.status();
    const bson::Document want = test.result.empty() ? bson::Document() : Wrap(test.result);
    EXPECT_EQ(want.bytes(), got->bytes())
        << test.expression << " over " << test.document << "\n  want "
        << bson::ToCanonicalJson(want) << "\n  got  " << bson::ToCanonicalJson(*got);
  }
}

inline void CheckErrors(std::span<const ErrorCase> cases, const QueryContext& context = {}) {
  for (const ErrorCase& test : cases) {
    const absl::StatusOr<bson::Document> got =
        EvaluateJson(test.expression, test.document, context);
    ASSERT_FALSE(got.ok()) << test.expression << " over " << test.document << " gives "
                           << bson::ToCanonicalJson(*got);
    EXPECT_EQ(test.code, static_cast<int>(CodeOf(got.status())))
        << test.expression << " over " << test.document << ": " << got.status();
  }
}

}  // namespace evenkeel::query::expr
