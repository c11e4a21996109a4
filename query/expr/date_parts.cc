// Parts of dates: $year … $millisecond, $dateToParts, and $dateFromParts that puts them together.
#include <algorithm>
#include <initializer_list>

#include "query/expr/date_args.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

constexpr ErrorCode kNoDate = Location(16006);

// A part of a date: what the clocks of a zone show.
using PartFn = int64_t (*)(const LocalTime& local);

int64_t Year(const LocalTime& local) { return local.day.year(); }
int64_t Month(const LocalTime& local) { return local.day.month(); }
int64_t DayOfMonth(const LocalTime& local) { return local.day.day(); }
int64_t DayOfYear(const LocalTime& local) { return absl::GetYearDay(local.day); }
int64_t DayOfWeek(const LocalTime& local) {
  return DaysSince(local.day, absl::Weekday::sunday) + 1;
}
int64_t IsoDay(const LocalTime& local) { return IsoDayOfWeek(local.day); }
int64_t IsoWeekNumber(const LocalTime& local) { return IsoWeekOf(local.day).week; }
int64_t IsoWeekYear(const LocalTime& local) { return IsoWeekOf(local.day).year; }
int64_t Week(const LocalTime& local) { return WeekOfYear(local.day); }
int64_t Hour(const LocalTime& local) { return local.millis / 3'600'000; }
int64_t Minute(const LocalTime& local) { return local.millis / 60'000 % 60; }
int64_t Second(const LocalTime& local) { return local.millis / 1000 % 60; }
int64_t Millisecond(const LocalTime& local) { return local.millis % 1000; }

enum PartArg { kDate, kZone };

template <PartFn Part>
absl::StatusOr<bson::Value> EvalPart(const Call& call) {
  if (call.args[kDate].IsNullish() || call.GivenNull(kZone)) return NullValue();
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t moment, RequireMoment(call, call.args[kDate], kNoDate));
  EVENKEEL_ASSIGN_OR_RETURN(const TimeZone zone, ZoneOf(call, kZone));
  const int64_t part = Part(zone.ToLocal(moment));
  if (Part == IsoWeekYear) return call.arena().Int64(part);
  return call.arena().Int32(static_cast<int32_t>(part));
}

constexpr NamedArg kPartArgs[] = {{.name = "date", .required = true, .missing = Location(40539)},
                                  {.name = "timezone"}};

// {$year: date}, {$year: [date]}, {$year: {date: …, timezone: …}}.
absl::StatusOr<ExpressionPtr> ParsePart(const ExprOp& op, bson::Value args, ParseScope& scope) {
  if (args.Is(Type::kObject) && !args.AsDocument().Front().key.starts_with('$')) {
    return ParseNamed(op, args, scope);
  }
  if (args.Is(Type::kArray)) {
    if (const size_t count = args.AsDocument().CountFields(); count != 1) {
      return Error(Location(40536),
                   "{} accepts exactly one argument if given an array, but was given {}", op.name,
                   count);
    }
    args = args.AsDocument().Front().value;
  }
  std::vector<ExpressionPtr> children(2);
  EVENKEEL_ASSIGN_OR_RETURN(children[kDate], Expression::Parse(args, scope));
  return MakeOperator(op, std::move(children), scope.context());
}

template <PartFn Part>
constexpr ExprOp PartRow(std::string_view name, std::string_view spec, std::string_view tests) {
  return {.name = name,
          .parse = ParsePart,
          .eval = EvalPart<Part>,
          .prepare = PrepareZone<kZone>,
          .named = kPartArgs,
          .unknown_name = Location(40535),
          .spec = spec,
          .tests = tests};
}

// ---- $dateToParts ----

enum ToPartsArg { kPartsDate, kPartsZone, kIso };

absl::StatusOr<bson::Value> EvalDateToParts(const Call& call) {
  for (const size_t arg : {kPartsDate, kPartsZone, kIso}) {
    if (call.GivenNull(arg)) return NullValue();
  }
  EVENKEEL_ASSIGN_OR_RETURN(const TimeZone zone, ZoneOf(call, kPartsZone));
  if (call.Given(kIso) && !call.args[kIso].Is(Type::kBool)) {
    return WrongType(call, Location(40521), "requires 'iso8601' to be a boolean", call.args[kIso]);
  }
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t moment,
                            RequireMoment(call, call.args[kPartsDate], kNoDate));
  const LocalTime local = zone.ToLocal(moment);
  struct Row {
    std::string_view name;
    PartFn part;
  };
  constexpr Row kCalendar[] = {{"year", Year}, {"month", Month}, {"day", DayOfMonth}};
  constexpr Row kWeeks[] = {
      {"isoWeekYear", IsoWeekYear}, {"isoWeek", IsoWeekNumber}, {"isoDayOfWeek", IsoDay}};
  constexpr Row kTime[] = {
      {"hour", Hour}, {"minute", Minute}, {"second", Second}, {"millisecond", Millisecond}};
  ArenaBuilder parts(call.arena(), Type::kObject);
  const auto append = [&](std::span<const Row> rows) {
    for (const Row& row : rows) {
      parts.Append(row.name, call.arena().Int32(static_cast<int32_t>(row.part(local))));
    }
  };
  append(call.Given(kIso) && call.args[kIso].AsBool() ? kWeeks : kCalendar);
  append(kTime);
  return parts.Finish();
}

// ---- $dateFromParts ----

enum FromPartsArg {
  kYear,
  kMonth,
  kDay,
  kIsoYear,
  kIsoWeek,
  kIsoDay,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kFromZone,
};

constexpr NamedArg kFromPartsArgs[] = {
    {.name = "year"},    {.name = "month"},        {.name = "day"},     {.name = "isoWeekYear"},
    {.name = "isoWeek"}, {.name = "isoDayOfWeek"}, {.name = "hour"},    {.name = "minute"},
    {.name = "second"},  {.name = "millisecond"},  {.name = "timezone"}};

absl::StatusOr<ExpressionPtr> ParseDateFromParts(const ExprOp& op, bson::Value args,
                                                 ParseScope& scope) {
  EVENKEEL_ASSIGN_OR_RETURN(ExpressionPtr parsed, ParseNamed(op, args, scope));
  const bson::View fields = args.AsDocument();
  const auto has = [&fields](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(),
                       [&fields](std::string_view name) { return fields.Contains(name); });
  };
  if (!has({"year", "isoWeekYear"})) {
    return Error(Location(40516), "{} requires either 'year' or 'isoWeekYear'", op.name);
  }
  if (has({"year"}) && has({"isoWeekYear", "isoWeek", "isoDayOfWeek"})) {
    return Error(Location(40489), "{} does not allow mixing natural dates with ISO dates", op.name);
  }
  if (has({"isoWeekYear"}) && has({"month", "day"})) {
    return Error(Location(40525), "{} does not allow mixing ISO dates with natural dates", op.name);
  }
  return parsed;
}

// Parts beyond their range carry over, but no further than this.
constexpr int64_t kPartMax = INT16_MAX;

struct FromPartsReader {
  const Call& call;

  // The value of a part; `fallback` when it was not given.
  absl::StatusOr<int64_t> Part(size_t arg, int64_t fallback) const {
    if (!call.Given(arg)) return fallback;
    const std::optional<int64_t> exact =
        call.args[arg].IsNumber() ? bson::ToInt64Exact(call.args[arg]) : std::nullopt;
    if (!exact) {
      return Error(Location(40515), "'{}' must evaluate to an integer, found {}",
                   kFromPartsArgs[arg].name, TypeName(call.args[arg].type()));
    }
    return *exact;
  }
  absl::StatusOr<int64_t> BoundedPart(size_t arg, int64_t fallback) const {
    EVENKEEL_ASSIGN_OR_RETURN(const int64_t part, Part(arg, fallback));
    if (part < INT16_MIN || part > kPartMax) {
      return Error(Location(31034), "'{}' must evaluate to a value in the range [{}, {}]; got {}",
                   kFromPartsArgs[arg].name, INT16_MIN, kPartMax, part);
    }
    return part;
  }
  absl::StatusOr<int64_t> YearPart(size_t arg, ErrorCode code) const {
    EVENKEEL_ASSIGN_OR_RETURN(const int64_t year, Part(arg, 1970));
    if (year < 1 || year > 9999) {
      return Error(code, "'{}' must evaluate to an integer in the range 1 to 9999, found {}",
                   kFromPartsArgs[arg].name, year);
    }
    return year;
  }
  absl::StatusOr<absl::CivilDay> Day() const {
    if (call.Given(kIsoYear)) {
      EVENKEEL_ASSIGN_OR_RETURN(const int64_t year, YearPart(kIsoYear, Location(31095)));
      EVENKEEL_ASSIGN_OR_RETURN(const int64_t week, BoundedPart(kIsoWeek, 1));
      EVENKEEL_ASSIGN_OR_RETURN(const int64_t day, BoundedPart(kIsoDay, 1));
      return FirstIsoDay(year) + ((week - 1) * 7 + day - 1);
    }
    EVENKEEL_ASSIGN_OR_RETURN(const int64_t year, YearPart(kYear, Location(40523)));
    EVENKEEL_ASSIGN_OR_RETURN(const int64_t month, BoundedPart(kMonth, 1));
    EVENKEEL_ASSIGN_OR_RETURN(const int64_t day, BoundedPart(kDay, 1));
    return FirstOfMonth(year * 12 + month - 1) + (day - 1);
  }
};

absl::StatusOr<bson::Value> EvalDateFromParts(const Call& call) {
  for (size_t arg = 0; arg < call.args.size(); ++arg) {
    if (call.GivenNull(arg)) return NullValue();
  }
  const FromPartsReader reader{call};
  EVENKEEL_ASSIGN_OR_RETURN(const TimeZone zone, ZoneOf(call, kFromZone));
  EVENKEEL_ASSIGN_OR_RETURN(const absl::CivilDay day, reader.Day());
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t hour, reader.BoundedPart(kHour, 0));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t minute, reader.BoundedPart(kMinute, 0));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t second, reader.Part(kSecond, 0));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t millisecond, reader.Part(kMillisecond, 0));
  int64_t millis = 0;
  if (__builtin_mul_overflow(second, int64_t{1000}, &millis) ||
      __builtin_add_overflow(millis, millisecond, &millis) ||
      __builtin_add_overflow(millis, (hour * 60 + minute) * 60'000, &millis)) {
    return DateOverflow(call, Location(159));
  }
  const int64_t carry = FloorDivide(millis, kMillisPerDay);
  const std::optional<int64_t> moment = zone.ToMoment(day + carry, millis - carry * kMillisPerDay);
  if (!moment) return DateOverflow(call, Location(159));
  return call.arena().Date(*moment);
}

constexpr NamedArg kToPartsArgs[] = {{.name = "date", .required = true, .missing = Location(40522)},
                                     {.name = "timezone"},
                                     {.name = "iso8601"}};

constexpr ExprOp kRows[] = {
    {.name = "$dateFromParts",
     .parse = ParseDateFromParts,
     .eval = EvalDateFromParts,
     .prepare = PrepareZone<kFromZone>,
     .named = kFromPartsArgs,
     .not_object = Location(40519),
     .unknown_name = Location(40518),
     .spec = "operator/aggregation/dateFromParts",
     .tests = "expressions/date/dateFromParts"},
    {.name = "$dateToParts",
     .parse = ParseNamed,
     .eval = EvalDateToParts,
     .prepare = PrepareZone<kPartsZone>,
     .named = kToPartsArgs,
     .not_object = Location(40524),
     .unknown_name = Location(40520),
     .spec = "operator/aggregation/dateToParts",
     .tests = "expressions/date/dateToParts"},
    PartRow<DayOfMonth>("$dayOfMonth", "operator/aggregation/dayOfMonth",
                        "expressions/date/dayOfMonth"),
    PartRow<DayOfWeek>("$dayOfWeek", "operator/aggregation/dayOfWeek",
                       "expressions/date/dayOfWeek"),
    PartRow<DayOfYear>("$dayOfYear", "operator/aggregation/dayOfYear",
                       "expressions/date/dayOfYear"),
    PartRow<Hour>("$hour", "operator/aggregation/hour", "expressions/date/hour"),
    PartRow<IsoDay>("$isoDayOfWeek", "operator/aggregation/isoDayOfWeek",
                    "expressions/date/isoDayOfWeek"),
    PartRow<IsoWeekNumber>("$isoWeek", "operator/aggregation/isoWeek", "expressions/date/isoWeek"),
    PartRow<IsoWeekYear>("$isoWeekYear", "operator/aggregation/isoWeekYear",
                         "expressions/date/isoWeekYear"),
    PartRow<Millisecond>("$millisecond", "operator/aggregation/millisecond",
                         "expressions/date/millisecond"),
    PartRow<Minute>("$minute", "operator/aggregation/minute", "expressions/date/minute"),
    PartRow<Month>("$month", "operator/aggregation/month", "expressions/date/month"),
    PartRow<Second>("$second", "operator/aggregation/second", "expressions/date/second"),
    PartRow<Week>("$week", "operator/aggregation/week", "expressions/date/week"),
    PartRow<Year>("$year", "operator/aggregation/year", "expressions/date/year"),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> DatePartsOps() { return kRows; }

}  // namespace evenkeel::query::expr
