// What the date operators share: their arguments (dates, zones, units, days of the week) and parts
// of dates.
//
// Source: "Date Expression Operators" in the manual.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/civil_time.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "query/expr/kernel.h"
#include "query/expr/time_zone.h"

namespace evenkeel::query::expr {

// The milliseconds of a date, timestamp or ObjectId; nothing for other types.
std::optional<int64_t> MomentOf(bson::Value value);
// The same for operators that say so in their own way. Errors: `code` for other types.
absl::StatusOr<int64_t> RequireMoment(const Call& call, bson::Value value, ErrorCode code);

// The zone of an argument. Errors: 40517 if it is no string, 40485 if there is no such zone.
absl::StatusOr<TimeZone> ParseZone(bson::Value value);

// An operator's zone when it is the same for every document: base of the date operators' states.
struct ZoneState : OpState {
  std::optional<TimeZone> zone;  // nothing: not constant, or null
  // Reads the zone from the constant at `arg`, if it is one.
  absl::Status SetZone(std::span<const std::optional<bson::Value>> constants, size_t arg);
};
// A prepare function for operators whose only state is the zone at position `Arg`.
template <size_t Arg>
absl::StatusOr<std::unique_ptr<OpState>> PrepareZone(
    std::span<const std::optional<bson::Value>> constants, const QueryContext&) {
  auto state = std::make_unique<ZoneState>();
  EVENKEEL_RETURN_IF_ERROR(state->SetZone(constants, Arg));
  return state;
}
// The zone of this call: UTC when none was given. Requires that it is not null.
absl::StatusOr<TimeZone> ZoneOf(const Call& call, size_t arg);

// The error for a result that no date can hold.
inline absl::Status DateOverflow(const Call& call, ErrorCode code) {
  return Error(code, "{} overflowed", call.op.name);
}

enum class TimeUnit : uint8_t {
  kMillisecond,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kWeek,
  kMonth,
  kQuarter,
  kYear,
};
// Errors: 5439013 if it is no string, FailedToParse (9) for an unknown unit.
absl::StatusOr<TimeUnit> ParseUnit(const Call& call, bson::Value value);
// Milliseconds of a unit up to the week; 0 for longer ones, which vary.
constexpr int64_t MillisOf(TimeUnit unit) {
  constexpr int64_t kMillis[] = {1, 1000, 60'000, 3'600'000, kMillisPerDay, 7 * kMillisPerDay,
                                 0, 0,    0};
  return kMillis[static_cast<size_t>(unit)];
}
// Months of a unit from the month on.
constexpr int64_t MonthsOf(TimeUnit unit) {
  return unit == TimeUnit::kMonth ? 1 : unit == TimeUnit::kQuarter ? 3 : 12;
}

// A day of the week by its English name or first three letters, in any case. Errors: 5439015 if it
// is no string, 5439016 for others.
absl::StatusOr<absl::Weekday> ParseWeekday(const Call& call, bson::Value value);

// Days since the last `first` of the week: 0 on that day itself.
int DaysSince(absl::CivilDay day, absl::Weekday first);
// Months since the year 0.
constexpr int64_t MonthNumber(absl::CivilDay day) { return day.year() * 12 + day.month() - 1; }
// The first day of a month counted from the year 0.
absl::CivilDay FirstOfMonth(int64_t month_number);

// The year and week of ISO 8601, weeks from Monday.
struct IsoWeek {
  int64_t year = 0;
  int week = 0;
};
IsoWeek IsoWeekOf(absl::CivilDay day);
// 1 (Monday) to 7.
int IsoDayOfWeek(absl::CivilDay day);
// The Monday of week 1.
absl::CivilDay FirstIsoDay(int64_t year);
// 0 to 53: weeks begin on Sunday, week 1 with the year's first.
int WeekOfYear(absl::CivilDay day);

}  // namespace evenkeel::query::expr
