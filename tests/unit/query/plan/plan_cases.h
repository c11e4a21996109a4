// Helpers of the planner's tests: filters and documents from JSON, intervals as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/bson/json.h"
#include "base/status.h"
#include "query/plan/bounds.h"

namespace evenkeel::query {

inline bson::Document Json(std::string_view json) {
  absl::StatusOr<bson::Document> parsed = bson::FromJson(json);
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.status();
  return parsed.ok() ? *std::move(parsed) : bson::Document();
}

inline Filter ParseFilter(std::string_view json, const QueryContext& context) {
  absl::StatusOr<Filter> filter = Filter::Parse(Json(json), context);
  EXPECT_TRUE(filter.ok()) << json << ": " << filter.status();
  return filter.ok() ? *std::move(filter) : Filter();
}

// "[1,5) [7,7]"; an open end is "*".
inline std::string Show(const IntervalList& intervals) {
  std::string out;
  for (const Interval& interval : intervals) {
    const bson::Value low = interval.low.value(), high = interval.high.value();
    if (!out.empty()) out += " ";
    out += interval.low_inclusive ? "[" : "(";
    out += low.missing() ? "*" : bson::ToDisplay(low);
    out += ",";
    out += high.missing() ? "*" : bson::ToDisplay(high);
    out += interval.high_inclusive ? "]" : ")";
  }
  return out;
}

}  // namespace evenkeel::query
