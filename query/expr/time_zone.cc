// Implements time zones on abseil's, which reads the system's database.
#include "query/expr/time_zone.h"

#include <algorithm>
#include <string>

#include "base/status.h"

namespace evenkeel::query::expr {
namespace {

constexpr int64_t kMillisPerSecond = 1000;
constexpr absl::CivilDay kEpoch(1970, 1, 1);
__extension__ typedef __int128 Int128;  // GCC's and clang's, not in the standard

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "+hh", "+hhmm", "+hh:mm" as seconds.
std::optional<int64_t> ParseOffset(std::string_view text) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  std::string digits;
  for (size_t i = 1; i < text.size(); ++i) {
    if (i == 3 && text[i] == ':') continue;
    if (!IsDigit(text[i])) return std::nullopt;
    digits += text[i];
  }
  const bool colon = text.size() == 6 && text[3] == ':';
  if (digits.size() != (text.size() - 1 - (colon ? 1 : 0))) return std::nullopt;
  if (digits.size() != 2 && digits.size() != 4) return std::nullopt;
  const auto pair = [&digits](size_t at) {
    return int64_t{digits[at] - '0'} * 10 + (digits[at + 1] - '0');
  };
  const int64_t seconds = pair(0) * 3600 + (digits.size() == 4 ? pair(2) * 60 : 0);
  return text[0] == '-' ? -seconds : seconds;
}

// True for what may be a name of the database; keeps other files, and the rules with leap seconds,
// from being read.
bool MayBeName(std::string_view name) {
  if (name.empty() || name.size() > 64 || !((name[0] | 0x20) >= 'a' && (name[0] | 0x20) <= 'z')) {
    return false;
  }
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_' || c == '-' ||
           c == '+' || c == '/';
  };
  for (const std::string_view other : {"posix", "right", "localtime", "Factory", "Fixed", "leap"}) {
    if (name.starts_with(other)) return false;
  }
  return std::all_of(name.begin(), name.end(), good);
}

}  // namespace

absl::StatusOr<TimeZone> TimeZone::Parse(std::string_view name) {
  if (const std::optional<int64_t> seconds = ParseOffset(name)) return TimeZone(*seconds);
  constexpr std::string_view kUtcNames[] = {"UTC",       "GMT",           "Etc/UTC",  "Etc/GMT",
                                            "Etc/UCT",   "Etc/Zulu",      "UCT",      "Zulu",
                                            "Universal", "Etc/Universal", "Greenwich"};
  if (std::find(std::begin(kUtcNames), std::end(kUtcNames), name) != std::end(kUtcNames)) {
    return TimeZone();
  }
  TimeZone zone;
  zone.named_.emplace();
  if (!MayBeName(name) ||
      !absl::LoadTimeZone(absl::string_view(name.data(), name.size()), &*zone.named_)) {
    return Error(Location(40485), "unrecognized time zone identifier: \"{}\"", name);
  }
  return zone;
}

int64_t TimeZone::OffsetAt(int64_t moment) const {
  if (!named_) return fixed_seconds_;
  return named_->At(absl::FromUnixMillis(moment)).offset;
}

LocalTime TimeZone::ToLocal(int64_t moment) const {
  LocalTime local;
  local.offset = OffsetAt(moment);
  const int64_t day = FloorDivide(moment, kMillisPerDay);
  const int64_t rest = moment - day * kMillisPerDay + local.offset * kMillisPerSecond;
  const int64_t carry = FloorDivide(rest, kMillisPerDay);
  local.day = kEpoch + (day + carry);
  local.millis = rest - carry * kMillisPerDay;
  return local;
}

std::optional<int64_t> TimeZone::ToMoment(absl::CivilDay day, int64_t millis_of_day) const {
  constexpr int64_t kYearMax = 300'000'000;  // beyond every date
  if (day.year() < -kYearMax || day.year() > kYearMax) return std::nullopt;
  const Int128 local = Int128{day - kEpoch} * kMillisPerDay + millis_of_day;
  Int128 moment = local - Int128{fixed_seconds_} * kMillisPerSecond;
  if (named_) {
    const int64_t second_of_day = FloorDivide(millis_of_day, kMillisPerSecond);
    const auto shown = absl::CivilSecond(day) + second_of_day;
    moment = Int128{absl::ToUnixSeconds(named_->At(shown).pre)} * kMillisPerSecond +
             (millis_of_day - second_of_day * kMillisPerSecond);
  }
  if (moment < INT64_MIN || moment > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(moment);
}

}  // namespace evenkeel::query::expr
