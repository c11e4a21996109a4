// What is read from the text of a date, and the moment that it means.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/expr/time_zone.h"

namespace evenkeel::query::expr {

struct DateFields {
  // The day: by month, by week, or by number in the year.
  std::optional<int64_t> year, month, day;
  std::optional<int64_t> iso_year, iso_week, iso_day;
  std::optional<int64_t> day_of_year;
  // The time of the day; 0 when it is not told.
  int64_t hour = 0, minute = 0, second = 0, millisecond = 0;
  // The zone that the text tells.
  std::optional<TimeZone> zone;
};

// The moment. `zone` is the one that the query gives for texts without their own.
// Errors: ConversionFailure (241) when the day is incomplete or does not exist, or when both tell a
// zone and the query's is not UTC.
absl::StatusOr<int64_t> MomentOfFields(const DateFields& fields, const TimeZone& zone,
                                       std::string_view text);

// The error for a text that is no date.
absl::Status DateTextError(std::string_view text, std::string_view why);

// 1 to 12 for the English name of a month or its first three letters ("sept" too), in any case; 0
// for others.
int MonthByName(std::string_view name);
// "January" for 1.
std::string_view MonthName(int64_t month);

// Reads a text from front to back.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  void Skip(size_t count) { rest_.remove_prefix(count); }
  // Skips `c` in front; false if something else is there.
  bool Take(char c);
  // From `low` to `high` decimal digits, as many as there are.
  std::optional<int64_t> Number(size_t low, size_t high);
  // The ASCII letters in front.
  std::string_view Letters() const;
  // "Z", "+05", "-0530", "+05:30" or a zone's name.
  std::optional<TimeZone> Zone();

 private:
  std::string_view rest_;
};

}  // namespace evenkeel::query::expr
