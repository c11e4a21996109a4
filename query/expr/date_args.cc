// Arguments of date operators, and weeks.
#include "query/expr/date_args.h"

#include <algorithm>
#include <string>

namespace evenkeel::query::expr {
namespace {

using bson::Type;

constexpr std::string_view kUnits[] = {"millisecond", "second", "minute",  "hour", "day",
                                       "week",        "month",  "quarter", "year"};
constexpr std::string_view kWeekdays[] = {"monday", "tuesday",  "wednesday", "thursday",
                                          "friday", "saturday", "sunday"};

}  // namespace

std::optional<int64_t> MomentOf(bson::Value value) {
  switch (value.type()) {
    case Type::kDate:
      return value.AsDateMillis();
    case Type::kTimestamp:
      return int64_t{value.AsTimestamp().seconds()} * 1000;
    case Type::kObjectId: {
      uint32_t seconds = 0;  // big endian, signed
      for (const char c : value.AsObjectId().substr(0, 4)) {
        seconds = seconds << 8 | static_cast<uint8_t>(c);
      }
      return int64_t{static_cast<int32_t>(seconds)} * 1000;
    }
    default:
      return std::nullopt;
  }
}

absl::StatusOr<int64_t> RequireMoment(const Call& call, bson::Value value, ErrorCode code) {
  const std::optional<int64_t> moment = MomentOf(value);
  if (!moment) return WrongType(call, code, "can't convert its date from BSON type", value);
  return *moment;
}

absl::StatusOr<TimeZone> ParseZone(bson::Value value) {
  if (!value.Is(Type::kString)) {
    return Error(Location(40517), "timezone must evaluate to a string, found {}",
                 TypeName(value.type()));
  }
  return TimeZone::Parse(value.AsString());
}

absl::Status ZoneState::SetZone(std::span<const std::optional<bson::Value>> constants, size_t arg) {
  const std::optional<bson::Value>& constant = constants[arg];
  if (!constant) return absl::OkStatus();
  if (constant->IsNullish()) {
    zone = TimeZone();  // a null one is seen by eval
    return absl::OkStatus();
  }
  EVENKEEL_ASSIGN_OR_RETURN(zone, ParseZone(*constant));
  return absl::OkStatus();
}

absl::StatusOr<TimeZone> ZoneOf(const Call& call, size_t arg) {
  const auto& state = static_cast<const ZoneState&>(*call.state);
  if (state.zone) return *state.zone;
  return ParseZone(call.args[arg]);
}

absl::StatusOr<TimeUnit> ParseUnit(const Call& call, bson::Value value) {
  if (!value.Is(Type::kString)) {
    return WrongType(call, Location(5439013), "requires 'unit' to be a string", value);
  }
  const auto* found = std::find(std::begin(kUnits), std::end(kUnits), value.AsString());
  if (found == std::end(kUnits)) {
    return Error(ErrorCode::kFailedToParse, "{}: unknown time unit value: {}", call.op.name,
                 value.AsString());
  }
  return static_cast<TimeUnit>(found - std::begin(kUnits));
}

absl::StatusOr<absl::Weekday> ParseWeekday(const Call& call, bson::Value value) {
  if (!value.Is(Type::kString)) {
    return WrongType(call, Location(5439015), "requires 'startOfWeek' to be a string", value);
  }
  std::string name(value.AsString());
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (size_t i = 0; i < std::size(kWeekdays); ++i) {
    if (name == kWeekdays[i] || name == kWeekdays[i].substr(0, 3)) {
      return static_cast<absl::Weekday>(i);
    }
  }
  return Error(Location(5439016), "{}: unknown day of week value: {}", call.op.name,
               value.AsString());
}

static_assert(static_cast<int>(absl::Weekday::monday) == 0, "kWeekdays has this order");

int DaysSince(absl::CivilDay day, absl::Weekday first) {
  return (static_cast<int>(absl::GetWeekday(day)) - static_cast<int>(first) + 7) % 7;
}

absl::CivilDay FirstOfMonth(int64_t month_number) {
  const int64_t year = FloorDivide(month_number, 12);
  return absl::CivilDay(year, month_number - year * 12 + 1, 1);
}

int IsoDayOfWeek(absl::CivilDay day) { return DaysSince(day, absl::Weekday::monday) + 1; }

absl::CivilDay FirstIsoDay(int64_t year) {
  const absl::CivilDay fourth(year, 1, 4);  // always in week 1
  return fourth - DaysSince(fourth, absl::Weekday::monday);
}

IsoWeek IsoWeekOf(absl::CivilDay day) {
  // A week belongs to the year of its Thursday.
  const absl::CivilDay thursday = day - (IsoDayOfWeek(day) - 4);
  return {thursday.year(), (absl::GetYearDay(thursday) - 1) / 7 + 1};
}

int WeekOfYear(absl::CivilDay day) {
  return (absl::GetYearDay(day) - 1 + 7 - DaysSince(day, absl::Weekday::sunday)) / 7;
}

}  // namespace evenkeel::query::expr
