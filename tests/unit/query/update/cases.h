// Table-driven tests of updates: an update, a document, and the document or the error expected.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "base/bson/json.h"
#include "base/status.h"
#include "query/update/update.h"

namespace evenkeel::query::update {

// The time that $currentDate writes in these tests.
inline constexpr int64_t kNowMillis = 1'700'000'000'000;

struct Case {
  std::string_view update;
  std::string_view document;
  std::string_view result;         // empty: unchanged
  std::string_view filter = "{}";  // for the positional operator
  std::string_view array_filters = R"({"f": []})";
};

struct ErrorCase {
  std::string_view update;
  int code;
  std::string_view document = R"({"_id": 1})";
  std::string_view filter = "{}";
  std::string_view array_filters = R"({"f": []})";
};

inline bson::Document Json(std::string_view json) {
  absl::StatusOr<bson::Document> parsed = bson::FromJson(json);
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.status();
  return parsed.ok() ? *std::move(parsed) : bson::Document();
}

inline QueryContext TestContext() {
  QueryContext context;
  context.now_ms = kNowMillis;
  context.cluster_time = Timestamp::FromParts(17, 3);
  return context;
}

// `update` is an object, or {"pipeline": [...]}.
inline absl::StatusOr<Update> ParseJson(std::string_view update, std::string_view array_filters,
                                        const QueryContext& context) {
  const bson::Document document = Json(update);
  const bson::Document filters = Json(array_filters);
  const bson::Value pipeline = document["pipeline"];
  const bson::Value operand =
      pipeline.missing() ? bson::Value(bson::Type::kObject, document.view().data()) : pipeline;
  return Update::Parse(operand, filters["f"].AsDocument(), context);
}

inline absl::StatusOr<UpdateOutcome> ApplyJson(const Case& test, const QueryContext& context) {
  EVENKEEL_ASSIGN_OR_RETURN(const Update update,
                            ParseJson(test.update, test.array_filters, context));
  EVENKEEL_ASSIGN_OR_RETURN(const Filter filter, Filter::Parse(Json(test.filter), context));
  return update.Apply(Json(test.document), &filter);
}

inline void CheckCases(std::span<const Case> cases) {
  const QueryContext context = TestContext();
  for (const Case& test : cases) {
    const absl::StatusOr<UpdateOutcome> outcome = ApplyJson(test, context);
    ASSERT_TRUE(outcome.ok()) << test.update << ": " << outcome.status();
    EXPECT_EQ(outcome->changed, !test.result.empty()) << test.update << " on " << test.document;
    if (!outcome->changed) continue;
    EXPECT_EQ(bson::ToCanonicalJson(outcome->document), bson::ToCanonicalJson(Json(test.result)))
        << test.update << " on " << test.document;
  }
}

inline void CheckErrors(std::span<const ErrorCase> cases) {
  const QueryContext context = TestContext();
  for (const ErrorCase& test : cases) {
    const absl::StatusOr<UpdateOutcome> outcome =
        ApplyJson({test.update, test.document, "", test.filter, test.array_filters}, context);
    ASSERT_FALSE(outcome.ok()) << test.update << " on " << test.document;
    EXPECT_EQ(static_cast<int>(CodeOf(outcome.status())), test.code)
        << test.update << ": " << outcome.status();
  }
}

}  // namespace evenkeel::query::update
