// Calendar arithmetic in UTC.
#include "query/window/units.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace evenkeel::query::window {
namespace {

using std::chrono::days;

constexpr int64_t kDayMs = 86'400'000;
// Dates past these years are not stepped by months.
constexpr int64_t kMonthsMax = 12 * 30'000;

constexpr std::array<std::pair<std::string_view, Unit>, 9> kNames = {{
    {"millisecond", Unit::kMillisecond},
    {"second", Unit::kSecond},
    {"minute", Unit::kMinute},
    {"hour", Unit::kHour},
    {"day", Unit::kDay},
    {"week", Unit::kWeek},
    {"month", Unit::kMonth},
    {"quarter", Unit::kQuarter},
    {"year", Unit::kYear},
}};

int64_t Saturated(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? INT64_MAX : INT64_MIN;
  return sum;
}

int64_t AddMonths(int64_t date_ms, int64_t count) {
  const int64_t day = date_ms >= 0 ? date_ms / kDayMs : -((-date_ms + kDayMs - 1) / kDayMs);
  const int64_t in_day = date_ms - day * kDayMs;
  constexpr int64_t kDaysMax = 10'000'000;
  if (day > kDaysMax || day < -kDaysMax) return date_ms;
  const std::chrono::sys_days at{days{static_cast<int32_t>(day)}};
  const std::chrono::year_month_day date{at};
  const auto months =
      std::chrono::months{static_cast<int32_t>(std::clamp(count, -kMonthsMax, kMonthsMax))};
  std::chrono::year_month_day moved = date + months;
  if (!moved.ok()) moved = moved.year() / moved.month() / std::chrono::last;
  const int64_t moved_day = std::chrono::sys_days{moved}.time_since_epoch().count();
  return moved_day * kDayMs + in_day;
}

}  // namespace

std::optional<Unit> FindUnit(std::string_view name) {
  for (const auto& [known, unit] : kNames) {
    if (known == name) return unit;
  }
  return std::nullopt;
}

std::optional<int64_t> FixedMilliseconds(Unit unit) {
  switch (unit) {
    case Unit::kMillisecond:
      return 1;
    case Unit::kSecond:
      return 1000;
    case Unit::kMinute:
      return 60'000;
    case Unit::kHour:
      return 3'600'000;
    case Unit::kDay:
      return kDayMs;
    case Unit::kWeek:
      return 7 * kDayMs;
    default:
      return std::nullopt;
  }
}

int64_t AddUnits(int64_t date_ms, Unit unit, int64_t count) {
  if (const std::optional<int64_t> each = FixedMilliseconds(unit)) {
    int64_t all = 0;
    if (__builtin_mul_overflow(*each, count, &all)) all = count > 0 ? INT64_MAX : INT64_MIN;
    return Saturated(date_ms, all);
  }
  const int64_t months = unit == Unit::kYear ? 12 : unit == Unit::kQuarter ? 3 : 1;
  return AddMonths(date_ms, months * std::clamp(count, -kMonthsMax, kMonthsMax));
}

}  // namespace evenkeel::query::window
