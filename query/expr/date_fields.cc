// From fields to a moment, and the small pieces of texts of dates.
#include "query/expr/date_fields.h"

#include <algorithm>

#include "base/status.h"
#include "query/expr/date_args.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

bool InRange(std::optional<int64_t> value, int64_t low, int64_t high) {
  return value && *value >= low && *value <= high;
}

// The day; nothing when it is incomplete or does not exist.
std::optional<absl::CivilDay> DayOf(const DateFields& f) {
  if (f.iso_year || f.iso_week || f.iso_day) {
    if (!f.iso_year || !InRange(f.iso_week, 1, 53)) return std::nullopt;
    if (f.iso_day && !InRange(f.iso_day, 1, 7)) return std::nullopt;
    return FirstIsoDay(*f.iso_year) + ((*f.iso_week - 1) * 7 + f.iso_day.value_or(1) - 1);
  }
  if (!f.year) return std::nullopt;
  if (f.day_of_year) {
    const absl::CivilDay day = absl::CivilDay(*f.year, 1, 1) + (*f.day_of_year - 1);
    return day.year() == *f.year ? std::optional(day) : std::nullopt;
  }
  if (!f.month || !f.day) return std::nullopt;
  const absl::CivilDay day(*f.year, *f.month, *f.day);
  const bool exists = day.year() == *f.year && day.month() == *f.month && day.day() == *f.day;
  return exists ? std::optional(day) : std::nullopt;
}

// Offsets of abbreviations in hours, as American texts use them.
struct Abbreviation {
  std::string_view name;
  int hours;
};
constexpr Abbreviation kAbbreviations[] = {
    {"utc", 0},  {"gmt", 0},  {"z", 0},     {"est", -5},  {"edt", -4},  {"cst", -6},
    {"cdt", -5}, {"mst", -7}, {"mdt", -6},  {"pst", -8},  {"pdt", -7},  {"cet", 1},
    {"cest", 2}, {"eet", 2},  {"eest", 3},  {"wet", 0},   {"west", 1},  {"bst", 1},
    {"msk", 3},  {"jst", 9},  {"akst", -9}, {"akdt", -8}, {"hst", -10}, {"uct", 0},
};

}  // namespace

absl::Status DateTextError(std::string_view text, std::string_view why) {
  constexpr size_t kShownMax = 100;
  return Error(ErrorCode::kConversionFailure, "Error parsing date string '{}'; {}",
               text.substr(0, kShownMax), why);
}

absl::StatusOr<int64_t> MomentOfFields(const DateFields& fields, const TimeZone& zone,
                                       std::string_view text) {
  const std::optional<absl::CivilDay> day = DayOf(fields);
  if (!day) return DateTextError(text, "the day is incomplete or does not exist");
  const bool midnight_after = fields.hour == 24 && fields.minute == 0 && fields.second == 0;
  if ((fields.hour > 23 && !midnight_after) || fields.minute > 59 || fields.second > 59) {
    return DateTextError(text, "the time does not exist");
  }
  if (fields.zone && !zone.is_utc()) {
    return DateTextError(text, "it tells a time zone, and so does the argument 'timezone'");
  }
  const int64_t millis =
      ((fields.hour * 60 + fields.minute) * 60 + fields.second) * 1000 + fields.millisecond;
  const int64_t carry = millis / kMillisPerDay;
  const std::optional<int64_t> moment =
      fields.zone.value_or(zone).ToMoment(*day + carry, millis - carry * kMillisPerDay);
  if (!moment) return DateTextError(text, "it is out of range");
  return *moment;
}

int MonthByName(std::string_view name) {
  const std::string lower = Lowered(name);
  if (lower == "sept") return 9;
  for (size_t i = 0; i < std::size(kMonths); ++i) {
    const std::string full = Lowered(kMonths[i]);
    if (lower == full || lower == full.substr(0, 3)) return static_cast<int>(i) + 1;
  }
  return 0;
}

std::string_view MonthName(int64_t month) { return kMonths[month - 1]; }

bool TextCursor::Take(char c) {
  if (peek() != c || rest_.empty()) return false;
  rest_.remove_prefix(1);
  return true;
}

std::optional<int64_t> TextCursor::Number(size_t low, size_t high) {
  size_t count = 0;
  int64_t value = 0;
  while (count < high && count < rest_.size() && IsDigit(rest_[count])) {
    value = value * 10 + (rest_[count++] - '0');
  }
  if (count < low) return std::nullopt;
  rest_.remove_prefix(count);
  return value;
}

std::string_view TextCursor::Letters() const {
  const auto end = std::find_if_not(rest_.begin(), rest_.end(), IsLetter);
  return rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
}

std::optional<TimeZone> TextCursor::Zone() {
  if (peek() == '+' || peek() == '-') {
    for (const size_t length : {size_t{6}, size_t{5}, size_t{3}}) {
      if (rest_.size() < length || (rest_.size() > length && IsDigit(rest_[length]))) continue;
      if (absl::StatusOr<TimeZone> zone = TimeZone::Parse(rest_.substr(0, length)); zone.ok()) {
        Skip(length);
        return *zone;
      }
    }
    return std::nullopt;
  }
  const auto end = std::find_if_not(rest_.begin(), rest_.end(),
                                    [](char c) { return IsLetter(c) || c == '/' || c == '_'; });
  const std::string_view name = rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
  if (name.empty()) return std::nullopt;
  for (const Abbreviation& row : kAbbreviations) {
    if (row.name != Lowered(name)) continue;
    Skip(name.size());
    return TimeZone::Fixed(int64_t{row.hours} * 3600);
  }
  absl::StatusOr<TimeZone> zone = TimeZone::Parse(name);
  if (!zone.ok() || name.find('/') == std::string_view::npos) return std::nullopt;
  Skip(name.size());
  return *zone;
}

}  // namespace evenkeel::query::expr
