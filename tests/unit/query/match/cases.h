// Table-driven tests of filters: a filter, a document, and whether it matches, or the error
// expected.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/json.h"
#include "base/status.h"
#include "query/match/filter.h"

namespace evenkeel::query::match {

struct Case {
  std::string_view filter;
  std::string_view document;
  bool matches = true;
};

struct ErrorCase {
  std::string_view filter;
  int code;
};

inline bson::Document Json(std::string_view json) {
  absl::StatusOr<bson::Document> parsed = bson::FromJson(json);
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.status();
  return parsed.ok() ? *std::move(parsed) : bson::Document();
}

inline Filter ParseOrDie(std::string_view json, const QueryContext& context) {
  absl::StatusOr<Filter> filter = Filter::Parse(Json(json), context);
  EXPECT_TRUE(filter.ok()) << json << ": " << filter.status();
  return filter.ok() ? *std::move(filter) : Filter();
}

inline void CheckCases(std::span<const Case> cases) {
  const QueryContext context;
  for (const Case& test : cases) {
    const Filter filter = ParseOrDie(test.filter, context);
    EXPECT_EQ(filter.Matches(Json(test.document)), test.matches)
        << test.filter << " on " << test.document;
  }
}

inline void CheckErrors(std::span<const ErrorCase> cases) {
  const QueryContext context;
  for (const ErrorCase& test : cases) {
    const absl::StatusOr<Filter> filter = Filter::Parse(Json(test.filter), context);
    ASSERT_FALSE(filter.ok()) << test.filter;
    EXPECT_EQ(static_cast<int>(CodeOf(filter.status())), test.code)
        << test.filter << ": " << filter.status();
  }
}

}  // namespace evenkeel::query::match
