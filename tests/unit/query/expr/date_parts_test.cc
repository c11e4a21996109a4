// Parts of dates, and dates from parts.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kDocument = R"({"d": {"$date": "2016-01-01T23:30:15.678Z"}})";

TEST(DateParts, OnePart) {
  const Case cases[] = {
      {R"({"$year": "$d"})", "2016", kDocument},
      {R"({"$month": ["$d"]})", "1", kDocument},
      {R"({"$dayOfMonth": {"date": "$d", "timezone": "+01"}})", "2", kDocument},
      {R"({"$dayOfYear": {"date": "$d", "timezone": "Europe/Berlin"}})", "2", kDocument},
      {R"({"$dayOfWeek": "$d"})", "6", kDocument},
      {R"({"$isoDayOfWeek": "$d"})", "5", kDocument},
      {R"({"$isoWeek": "$d"})", "53", kDocument},
      {R"({"$isoWeekYear": "$d"})", R"({"$numberLong": "2015"})", kDocument},
      {R"({"$week": "$d"})", "0", kDocument},
      {R"({"$hour": "$d"})", "23", kDocument},
      {R"({"$minute": {"date": "$d", "timezone": "+05:45"}})", "15", kDocument},
      {R"({"$second": "$d"})", "15", kDocument},
      {R"({"$millisecond": "$d"})", "678", kDocument},
      {R"({"$year": {"$oid": "800000000000000000000000"}})", "1901"},
      {R"({"$year": {"date": "$d", "timezone": "$missing"}})", "null", kDocument},
      {R"({"$hour": {"$date": {"$numberLong": "-9223372036854775808"}}})", "16"},
  };
  CheckCases(cases);
}

TEST(DateParts, ToParts) {
  const Case cases[] = {
      {R"({"$dateToParts": {"date": "$d", "iso8601": true}})",
       R"({"isoWeekYear": 2015, "isoWeek": 53, "isoDayOfWeek": 5, "hour": 23, "minute": 30,
           "second": 15, "millisecond": 678})",
       kDocument},
      {R"({"$dateToParts": {"date": "$d", "iso8601": null}})", "null", kDocument},
  };
  CheckCases(cases);
}

TEST(DateParts, FromParts) {
  const Case cases[] = {
      {R"({"$dateFromParts": {"year": 2020, "month": 14, "day": 0}})",
       R"({"$date": "2021-01-31T00:00:00Z"})"},
      {R"({"$dateFromParts": {"isoWeekYear": 2017, "isoWeek": 6, "isoDayOfWeek": 3}})",
       R"({"$date": "2017-02-08T00:00:00Z"})"},
      {R"({"$dateFromParts": {"year": 2020, "hour": 12, "millisecond": -1,
                              "timezone": "America/New_York"}})",
       R"({"$date": "2020-01-01T16:59:59.999Z"})"},
      {R"({"$dateFromParts": {"year": 2020, "month": "$missing"}})", "null"},
  };
  CheckCases(cases);
}

TEST(DateParts, Errors) {
  const ErrorCase errors[] = {
      {R"({"$year": "x"})", 16006},
      {R"({"$year": []})", 40536},
      {R"({"$year": {"timezone": "UTC"}})", 40539},
      {R"({"$year": {"date": null, "x": 1}})", 40535},
      {R"({"$year": {"date": {"$date": {"$numberLong": "0"}}, "timezone": "europe/berlin"}})",
       40485},
      {R"({"$dateToParts": {"date": {"$date": {"$numberLong": "0"}}, "iso8601": 1}})", 40521},
      {R"({"$dateFromParts": {"year": 2020, "isoWeek": 1}})", 40489},
      {R"({"$dateFromParts": {"isoWeekYear": 2020, "day": 1}})", 40525},
      {R"({"$dateFromParts": {"month": 1}})", 40516},
      {R"({"$dateFromParts": {"year": 0}})", 40523},
      {R"({"$dateFromParts": {"year": "x"}})", 40515},
      {R"({"$dateFromParts": {"year": 2020, "month": 40000}})", 31034},
      {R"({"$dateFromParts": {"year": 2020, "x": 1}})", 40518},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
