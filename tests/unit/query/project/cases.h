// Table-driven tests of projections: a specification, a document, and the result or the error
// expected.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "base/bson/json.h"
#include "base/status.h"
#include "query/project/projection.h"

namespace evenkeel::query::project {

struct Case {
  std::string_view spec;
  std::string_view document;
  std::string_view result;
  std::string_view filter = "{}";
};

struct ErrorCase {
  std::string_view spec;
  int code;
  std::string_view document = "{}";
};

inline bson::Document Json(std::string_view json) {
  absl::StatusOr<bson::Document> parsed = bson::FromJson(json);
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.status();
  return parsed.ok() ? *std::move(parsed) : bson::Document();
}

inline absl::StatusOr<bson::Document> ApplyJson(const Case& test, ProjectionKind kind) {
  const QueryContext context;
  EVENKEEL_ASSIGN_OR_RETURN(const Projection projection,
                            Projection::Parse(Json(test.spec), kind, context));
  EVENKEEL_ASSIGN_OR_RETURN(const Filter filter, Filter::Parse(Json(test.filter), context));
  return projection.Apply(Json(test.document), &filter);
}

inline void CheckCases(ProjectionKind kind, std::span<const Case> cases) {
  for (const Case& test : cases) {
    const absl::StatusOr<bson::Document> result = ApplyJson(test, kind);
    ASSERT_TRUE(result.ok()) << test.spec << ": " << result.status();
    EXPECT_EQ(bson::ToCanonicalJson(*result), bson::ToCanonicalJson(Json(test.result)))
        << test.spec << " on " << test.document;
  }
}

inline void CheckErrors(ProjectionKind kind, std::span<const ErrorCase> cases) {
  for (const ErrorCase& test : cases) {
    const absl::StatusOr<bson::Document> result = ApplyJson({test.spec, test.document, ""}, kind);
    ASSERT_FALSE(result.ok()) << test.spec;
    EXPECT_EQ(static_cast<int>(CodeOf(result.status())), test.code)
        << test.spec << ": " << result.status();
  }
}

}  // namespace evenkeel::query::project
