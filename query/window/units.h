// Steps of time by which windows and gaps are measured: {unit: "day"}.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace evenkeel::query::window {

enum class Unit : uint8_t {
  kMillisecond,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kWeek,
  kMonth,
  kQuarter,
  kYear
};

// "millisecond" … "year"; nothing for other names.
std::optional<Unit> FindUnit(std::string_view name);
// The milliseconds of a unit that has always as many: up to the week.
std::optional<int64_t> FixedMilliseconds(Unit unit);
// The date `count` units later, in UTC. Months keep the day where it exists, else end at the
// month's last day. Saturates at the ends of int64.
int64_t AddUnits(int64_t date_ms, Unit unit, int64_t count);

}  // namespace evenkeel::query::window
