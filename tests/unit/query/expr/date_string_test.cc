// Dates as texts: with formats, and without.
#include "tests/unit/query/expr/cases.h"

namespace evenkeel::query::expr {
namespace {

TEST(DateString, Print) {
  constexpr std::string_view kDocument =
      R"({"d": {"$date": "2024-06-05T10:30:45.007Z"}, "f": "%d"})";
  const Case cases[] = {
      {R"({"$dateToString": {"date": "$d"}})", R"("2024-06-05T10:30:45.007Z")", kDocument},
      {R"({"$dateToString": {"date": "$d", "timezone": "America/New_York"}})",
       R"("2024-06-05T06:30:45.007")", kDocument},
      {R"({"$dateToString": {"date": "$d", "format": "%Y/%m/%d %H:%M:%S.%L %j %u %w %U %G-%V"}})",
       R"("2024/06/05 10:30:45.007 157 3 4 22 2024-23")", kDocument},
      {R"({"$dateToString": {"date": "$d", "format": "%b %B %z %Z 100%%",
                             "timezone": "-0530"}})",
       R"("Jun June -0530 -330 100%")", kDocument},
      {R"({"$dateToString": {"date": "$d", "format": "$f"}})", R"("05")", kDocument},
      {R"({"$dateToString": {"date": "$x", "onNull": "none"}})", R"("none")"},
      {R"({"$dateToString": {"date": "$d", "format": "$x"}})", "null", kDocument},
      // A fallback that fails matters only where it is used.
      {R"({"$dateToString": {"date": "$d", "format": "%Y", "onNull": {"$divide": [1, "$x"]}}})",
       R"("2024")", R"({"d": {"$date": "2024-06-05T10:30:45.007Z"}, "x": 0})"},
  };
  CheckCases(cases);
}

TEST(DateString, ReadWithFormat) {
  const Case cases[] = {
      {R"({"$dateFromString": {"dateString": "06-15-2018", "format": "%m-%d-%Y"}})",
       R"({"$date": "2018-06-15T00:00:00Z"})"},
      {R"({"$dateFromString": {"dateString": "2018 W12 2", "format": "%G W%V %u"}})",
       R"({"$date": "2018-03-20T00:00:00Z"})"},
      {R"({"$dateFromString": {"dateString": "20 March 2018 +0100", "format": "%d %B %Y %z"}})",
       R"({"$date": "2018-03-19T23:00:00Z"})"},
      {R"({"$dateFromString": {"dateString": "x", "format": "%Y", "onError": "bad"}})", R"("bad")"},
      {R"({"$dateFromString": {"dateString": null, "onNull": "none"}})", R"("none")"},
  };
  CheckCases(cases);
}

TEST(DateString, ReadFreely) {
  struct Text {
    std::string_view text;
    std::string_view date;
  };
  const Text texts[] = {
      {"2018-03-20", "2018-03-20T00:00:00Z"},
      {"2018-03-20T12:00:00.5+01:30", "2018-03-20T10:30:00.500Z"},
      {" 2018-03-20\\t12:00:00 Z ", "2018-03-20T12:00:00Z"},
      {"20180320T120102", "2018-03-20T12:01:02Z"},
      {"2018-079", "2018-03-20T00:00:00Z"},
      {"2018-W12-2", "2018-03-20T00:00:00Z"},
      {"3/20/2018 3:05 pm", "2018-03-20T15:05:00Z"},
      {"20-03-2018", "2018-03-20T00:00:00Z"},
      {"20-Mar-2018 12:00 UTC", "2018-03-20T12:00:00Z"},
      {"Tue, March 20th, 2018 12:00 EST", "2018-03-20T17:00:00Z"},
      {"2018-03-20 12:00 America/New_York", "2018-03-20T16:00:00Z"},
      {"2018-03-20T24:00:00", "2018-03-21T00:00:00Z"},
  };
  for (const Text& row : texts) {
    const std::string expression = fmt::format(R"({{"$toDate": "{}"}})", row.text);
    const std::string date = fmt::format(R"({{"$date": "{}"}})", row.date);
    const Case cases[] = {{expression, date}};
    CheckCases(cases);
  }
  for (const std::string_view text :
       {"", "x", "2024", "Friday", "2019-02-29", "2018-13-01", "10000-01-01", "2024-06-15T12: 30",
        "2018-03-20T25:00", "2018-03-20 12:00 12:00", "2018-03-20 2018-03-20"}) {
    const std::string expression = fmt::format(R"({{"$toDate": "{}"}})", text);
    const ErrorCase errors[] = {{expression, 241}};
    CheckErrors(errors);
  }
}

TEST(DateString, Errors) {
  const ErrorCase errors[] = {
      {R"({"$dateToString": {"date": {"$date": {"$numberLong": "0"}}, "format": "%"}})", 18535},
      {R"({"$dateToString": {"date": {"$date": {"$numberLong": "0"}}, "format": "%x"}})", 18536},
      {R"({"$dateToString": {"date": {"$date": {"$numberLong": "0"}}, "format": 1}})", 18533},
      {R"({"$dateToString": {"date": {"$date": {"$numberLong": "253402300800000"}},
                             "format": "%Y"}})",
       18537},
      {R"({"$dateToString": {"date": 1}})", 16006},
      {R"({"$dateToString": {"x": 1}})", 18534},
      {R"({"$dateToString": {"format": "%Y"}})", 18628},
      {R"({"$dateToString": 1})", 18629},
      {R"({"$dateFromString": {"dateString": 1}})", 241},
      {R"({"$dateFromString": {"dateString": "2018-03-20", "format": 1}})", 40684},
      {R"({"$dateFromString": {"dateString": "12", "format": "%U"}})", 18536},
      {R"({"$dateFromString": {"dateString": "2018-03-20 12:00Z", "timezone": "+01"}})", 241},
      {R"({"$dateFromString": {}})", 40542},
      {R"({"$dateFromString": {"x": 1}})", 40541},
      {R"({"$dateFromString": 1})", 40540},
  };
  CheckErrors(errors);
}

}  // namespace
}  // namespace evenkeel::query::expr
