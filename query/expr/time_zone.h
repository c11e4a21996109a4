// Time zones by name or offset, as the date operators take them.
//
// Source: "Date Expression Operators", Timezone Specification, in the manual. Rules come from the
// system's time zone database (package tzdata), read once per zone and kept.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace evenkeel::query::expr {

inline constexpr int64_t kMillisPerDay = 86'400'000;

// A moment as the clocks of a zone show it.
struct LocalTime {
  absl::CivilDay day;
  int64_t millis = 0;  // of the day, below kMillisPerDay
  int64_t offset = 0;  // seconds east of UTC
};

class TimeZone {
 public:
  TimeZone() = default;  // UTC
  // A name of the database ("Europe/Berlin", "UTC") or an offset ("+05:30", "-0800", "+02").
  // Errors: 40485 for anything else.
  static absl::StatusOr<TimeZone> Parse(std::string_view name);
  // Seconds east of UTC; any number of them.
  static TimeZone Fixed(int64_t seconds) { return TimeZone(seconds); }

  // True for UTC and its other names.
  bool is_utc() const { return !named_ && fixed_seconds_ == 0; }
  // What the clocks show at a moment, milliseconds since 1970.
  LocalTime ToLocal(int64_t moment) const;
  // The moment when the clocks show this. A time that a change of clocks skips is read with the
  // offset before it; of a time that comes twice, the first. Nothing when it does not fit.
  std::optional<int64_t> ToMoment(absl::CivilDay day, int64_t millis_of_day) const;

 private:
  explicit TimeZone(int64_t seconds) : fixed_seconds_(seconds) {}
  int64_t OffsetAt(int64_t moment) const;

  std::optional<absl::TimeZone> named_;  // nothing: a fixed offset
  int64_t fixed_seconds_ = 0;
};

// Quotient and remainder rounded down, for times before 1970.
constexpr int64_t FloorDivide(int64_t value, int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

}  // namespace evenkeel::query::expr
