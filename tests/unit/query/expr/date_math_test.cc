// Adding, subtracting, counting and cutting of dates.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(DateMath, Add) {
  const Case cases[] = {
      {R"({"$dateAdd": {"startDate": "$d", "unit": "month", "amount": 1}})",
       R"({"$date": "2020-02-29T10:00:00Z"})", R"({"d": {"$date": "2020-01-31T10:00:00Z"}})"},
      {R"({"$dateAdd": {"startDate": "$d", "unit": "quarter", "amount": -1}})",
       R"({"$date": "2021-01-30T00:00:00Z"})", R"({"d": {"$date": "2021-04-30T00:00:00Z"}})"},
      {R"({"$dateSubtract": {"startDate": "$d", "unit": "year", "amount": 1}})",
       R"({"$date": "2019-02-28T00:00:00Z"})", R"({"d": {"$date": "2020-02-29T00:00:00Z"}})"},
      // Days follow the clocks, hours do not.
      {R"({"$dateAdd": {"startDate": "$d", "unit": "day", "amount": 1,
                        "timezone": "America/New_York"}})",
       R"({"$date": "2021-03-14T14:00:00Z"})", R"({"d": {"$date": "2021-03-13T15:00:00Z"}})"},
      {R"({"$dateAdd": {"startDate": "$d", "unit": "hour", "amount": 24,
                        "timezone": "America/New_York"}})",
       R"({"$date": "2021-03-14T15:00:00Z"})", R"({"d": {"$date": "2021-03-13T15:00:00Z"}})"},
      {R"({"$dateAdd": {"startDate": {"$timestamp": {"t": 5, "i": 1}}, "unit": "second",
                        "amount": 1.0}})",
       R"({"$date": {"$numberLong": "6000"}})"},
      {R"({"$dateAdd": {"startDate": "$d", "unit": "day", "amount": null}})", "null",
       R"({"d": {"$date": "2021-03-13T15:00:00Z"}})"},
      {R"({"$dateAdd": {"startDate": {"$date": "2021-03-13T15:00:00Z"}, "unit": "day",
                        "amount": 1, "timezone": "$missing"}})",
       "null"},
  };
  CheckCases(cases);
}

TEST(DateMath, Difference) {
  const Case cases[] = {
      {R"({"$dateDiff": {"startDate": {"$date": "2021-12-31T23:00:00Z"},
                         "endDate": {"$date": "2022-01-01T01:00:00Z"}, "unit": "year"}})",
       R"({"$numberLong": "1"})"},
      {R"({"$dateDiff": {"startDate": {"$date": "2021-12-31T23:00:00Z"},
                         "endDate": {"$date": "2022-01-01T01:00:00Z"}, "unit": "year",
                         "timezone": "+02:00"}})",
       R"({"$numberLong": "0"})"},
      {R"({"$dateDiff": {"startDate": {"$date": "2024-01-01T00:00:00Z"},
                         "endDate": {"$date": "2024-01-31T00:00:00Z"}, "unit": "week",
                         "startOfWeek": "MON"}})",
       R"({"$numberLong": "4"})"},
      // Real hours across a change of clocks.
      {R"({"$dateDiff": {"startDate": {"$date": "2021-11-07T05:00:00Z"},
                         "endDate": {"$date": "2021-11-07T07:00:00Z"}, "unit": "hour",
                         "timezone": "America/New_York"}})",
       R"({"$numberLong": "2"})"},
      {R"({"$dateDiff": {"startDate": {"$date": {"$numberLong": "-9223372036854775808"}},
                         "endDate": {"$date": {"$numberLong": "9223372036854775807"}},
                         "unit": "year"}})",
       R"({"$numberLong": "584554049"})"},
  };
  CheckCases(cases);
}

TEST(DateMath, Truncate) {
  const Case cases[] = {
      {R"({"$dateTrunc": {"date": "$d", "unit": "hour"}})", R"({"$date": "2021-03-20T11:00:00Z"})",
       R"({"d": {"$date": "2021-03-20T11:30:05Z"}})"},
      {R"({"$dateTrunc": {"date": "$d", "unit": "week", "startOfWeek": "friday"}})",
       R"({"$date": "2021-03-19T00:00:00Z"})", R"({"d": {"$date": "2021-03-20T11:30:05Z"}})"},
      {R"({"$dateTrunc": {"date": "$d", "unit": "week", "binSize": 2, "startOfWeek": "Monday",
                          "timezone": "America/Los_Angeles"}})",
       R"({"$date": "2020-05-11T07:00:00Z"})", R"({"d": {"$date": "2020-05-18T14:10:30Z"}})"},
      {R"({"$dateTrunc": {"date": "$d", "unit": "quarter", "binSize": 2}})",
       R"({"$date": "1969-07-01T00:00:00Z"})", R"({"d": {"$date": "1969-12-31T23:59:59Z"}})"},
      {R"({"$dateTrunc": {"date": "$d", "unit": "hour", "timezone": "+05:45"}})",
       R"({"$date": "2021-06-15T11:15:00Z"})", R"({"d": {"$date": "2021-06-15T12:00:00Z"}})"},
  };
  CheckCases(cases);
}

TEST(DateMath, Errors) {
  const ErrorCase errors[] = {
      {R"({"$dateAdd": {"startDate": 1, "unit": "day", "amount": 1}})", 5166403},
      {R"({"$dateAdd": {"startDate": {"$date": "2021-03-13T15:00:00Z"}, "unit": "day",
                        "amount": 1.5}})",
       5166405},
      {R"({"$dateAdd": {"startDate": {"$date": {"$numberLong": "9223372036854775807"}},
                        "unit": "day", "amount": 1}})",
       5166406},
      {R"({"$dateAdd": {"startDate": {"$date": "2021-03-13T15:00:00Z"}, "unit": "month",
                        "amount": {"$numberLong": "30000000000"}}})",
       5976500},
      {R"({"$dateAdd": {"startDate": {"$date": "2021-03-13T15:00:00Z"}, "unit": "Day",
                        "amount": 1}})",
       9},
      {R"({"$dateAdd": {"startDate": {"$date": "2021-03-13T15:00:00Z"}, "unit": 1, "amount": 1}})",
       5439013},
      {R"({"$dateAdd": {"unit": "day", "amount": 1}})", 5166402},
      {R"({"$dateDiff": [1]})", 5166301},
      {R"({"$dateDiff": {"startDate": 1, "endDate": 1, "unit": "day"}})", 5166307},
      {R"({"$dateTrunc": {"date": {"$date": "2021-03-13T15:00:00Z"}, "unit": "day",
                          "binSize": 0}})",
       5439018},
      {R"({"$dateTrunc": {"date": {"$date": "2021-03-13T15:00:00Z"}, "unit": "week",
                          "startOfWeek": "x"}})",
       5439016},
      {R"({"$dateTrunc": {"date": {"$date": "2021-03-13T15:00:00Z"}, "unit": "day",
                          "timezone": "../zoneinfo/UTC"}})",
       40485},
      {R"({"$dateTrunc": {"date": {"$date": "2021-03-13T15:00:00Z"}, "unit": "day",
                          "timezone": 1}})",
       40517},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
