// $dateAdd, $dateDiff, $dateSubtract, $dateTrunc: dates and units of time.
#include <algorithm>

#include "query/expr/date_args.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

// The most years between two dates; bounds amounts so that arithmetic on them cannot overflow.
constexpr int64_t kYearsMax = 584'554'049;
constexpr absl::CivilDay kEpoch(1970, 1, 1);

bool AmountFits(TimeUnit unit, int64_t amount) {
  constexpr int64_t kDaysMax = kYearsMax * 366;
  int64_t most = INT64_MAX;
  if (unit >= TimeUnit::kMonth) {
    most = kYearsMax * 12 / MonthsOf(unit);
  } else if (unit > TimeUnit::kMillisecond) {
    most = static_cast<int64_t>(static_cast<double>(kDaysMax) * kMillisPerDay /
                                static_cast<double>(MillisOf(unit)));
  }
  return amount >= -most && amount <= most;
}

absl::CivilDay AddMonths(absl::CivilDay day, int64_t months) {
  const int64_t number = MonthNumber(day) + months;
  const absl::CivilDay last = FirstOfMonth(number + 1) - 1;
  const absl::CivilDay first = FirstOfMonth(number);
  return first + (std::min(day.day(), last.day()) - 1);
}

std::optional<int64_t> AddUnits(int64_t moment, TimeUnit unit, int64_t amount,
                                const TimeZone& zone) {
  if (unit < TimeUnit::kDay) {
    int64_t span = 0, sum = 0;
    if (__builtin_mul_overflow(amount, MillisOf(unit), &span)) return std::nullopt;
    if (__builtin_add_overflow(moment, span, &sum)) return std::nullopt;
    return sum;
  }
  const LocalTime local = zone.ToLocal(moment);
  if (unit >= TimeUnit::kMonth) {
    return zone.ToMoment(AddMonths(local.day, amount * MonthsOf(unit)), local.millis);
  }
  return zone.ToMoment(local.day + amount * (unit == TimeUnit::kWeek ? 7 : 1), local.millis);
}

enum AddArg { kStart, kUnit, kAmount, kAddZone };

absl::StatusOr<bson::Value> AddOrSubtract(const Call& call, bool subtract) {
  for (const size_t arg : {kStart, kUnit, kAmount, kAddZone}) {
    if (call.GivenNull(arg)) return NullValue();
  }
  EVENKEEL_ASSIGN_OR_RETURN(const TimeUnit unit, ParseUnit(call, call.args[kUnit]));
  EVENKEEL_ASSIGN_OR_RETURN(const TimeZone zone, ZoneOf(call, kAddZone));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t moment,
                            RequireMoment(call, call.args[kStart], Location(5166403)));
  const std::optional<int64_t> amount =
      call.args[kAmount].IsNumber() ? bson::ToInt64Exact(call.args[kAmount]) : std::nullopt;
  if (!amount) {
    return Error(Location(5166405), "{} expects integer amount of time units", call.op.name);
  }
  if (!AmountFits(unit, *amount) || (subtract && *amount == INT64_MIN)) {
    return Error(Location(5976500), "{}: invalid 'amount' parameter value: {}", call.op.name,
                 *amount);
  }
  const std::optional<int64_t> sum = AddUnits(moment, unit, subtract ? -*amount : *amount, zone);
  if (!sum) return DateOverflow(call, Location(5166406));
  return call.arena().Date(*sum);
}

absl::StatusOr<bson::Value> EvalDateAdd(const Call& call) { return AddOrSubtract(call, false); }
absl::StatusOr<bson::Value> EvalDateSubtract(const Call& call) { return AddOrSubtract(call, true); }

// The first day of a week, 0 (Monday) when none was given; nothing when it is null.
absl::StatusOr<std::optional<absl::Weekday>> StartOfWeek(const Call& call, size_t arg) {
  if (!call.Given(arg)) return absl::Weekday::sunday;
  if (call.args[arg].IsNullish()) return std::nullopt;
  EVENKEEL_ASSIGN_OR_RETURN(const absl::Weekday first, ParseWeekday(call, call.args[arg]));
  return first;
}

// Boundaries of `unit` between two moments. Units up to the hour follow the clocks of the zone, but
// count real time across their changes.
int64_t CountBoundaries(int64_t from, int64_t to, TimeUnit unit, absl::Weekday first,
                        const TimeZone& zone) {
  const LocalTime a = zone.ToLocal(from);
  const LocalTime b = zone.ToLocal(to);
  switch (unit) {
    case TimeUnit::kYear:
      return b.day.year() - a.day.year();
    case TimeUnit::kQuarter:
      return FloorDivide(MonthNumber(b.day), 3) - FloorDivide(MonthNumber(a.day), 3);
    case TimeUnit::kMonth:
      return MonthNumber(b.day) - MonthNumber(a.day);
    case TimeUnit::kWeek:
      return ((b.day - DaysSince(b.day, first)) - (a.day - DaysSince(a.day, first))) / 7;
    case TimeUnit::kDay:
      return b.day - a.day;
    default: {
      const int64_t length = MillisOf(unit);
      const int64_t shown =
          (b.day - a.day) * (kMillisPerDay / length) + b.millis / length - a.millis / length;
      return shown + (a.offset - b.offset) * 1000 / length;
    }
  }
}

enum DiffArg { kFrom, kTo, kDiffUnit, kDiffZone, kDiffWeek };

absl::StatusOr<bson::Value> EvalDateDiff(const Call& call) {
  for (const size_t arg : {kFrom, kTo, kDiffUnit, kDiffZone}) {
    if (call.GivenNull(arg)) return NullValue();
  }
  EVENKEEL_ASSIGN_OR_RETURN(const TimeUnit unit, ParseUnit(call, call.args[kDiffUnit]));
  EVENKEEL_ASSIGN_OR_RETURN(const TimeZone zone, ZoneOf(call, kDiffZone));
  absl::Weekday first = absl::Weekday::sunday;
  if (unit == TimeUnit::kWeek) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::optional<absl::Weekday> given,
                              StartOfWeek(call, kDiffWeek));
    if (!given) return NullValue();
    first = *given;
  }
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t from,
                            RequireMoment(call, call.args[kFrom], Location(5166307)));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t to,
                            RequireMoment(call, call.args[kTo], Location(5166307)));
  if (int64_t span; unit == TimeUnit::kMillisecond) {
    if (__builtin_sub_overflow(to, from, &span)) return DateOverflow(call, Location(5166308));
    return call.arena().Int64(span);
  }
  return call.arena().Int64(CountBoundaries(from, to, unit, first, zone));
}

// The start of the bin of `size` units that a moment lies in. Bins are counted from the start of
// the year 2000, in weeks from its first such day.
absl::StatusOr<std::optional<int64_t>> Truncate(int64_t moment, TimeUnit unit, int64_t size,
                                                absl::Weekday first, const TimeZone& zone) {
  constexpr int64_t kLongBinMax = 100'000'000'000;
  constexpr absl::CivilDay kReference(2000, 1, 1);
  const LocalTime local = zone.ToLocal(moment);
  if (unit >= TimeUnit::kMonth) {
    if (size > kLongBinMax) return Error(Location(5439006), "$dateTrunc: 'binSize' is too large");
    const int64_t months = size * MonthsOf(unit);
    const int64_t since = MonthNumber(local.day) - MonthNumber(kReference);
    const int64_t bin = FloorDivide(since, months) * months + MonthNumber(kReference);
    return zone.ToMoment(FirstOfMonth(bin), 0);
  }
  if (unit >= TimeUnit::kDay) {
    if (size > kLongBinMax) return Error(Location(5439005), "$dateTrunc: 'binSize' is too large");
    const bool weeks = unit == TimeUnit::kWeek;
    const int64_t days = size * (weeks ? 7 : 1);
    const absl::CivilDay reference =
        weeks ? kReference + (7 - DaysSince(kReference, first)) % 7 : kReference;
    return zone.ToMoment(reference + FloorDivide(local.day - reference, days) * days, 0);
  }
  int64_t length = 0;
  if (__builtin_mul_overflow(size, MillisOf(unit), &length)) {
    return Error(Location(5439002), "$dateTrunc: 'binSize' is too large");
  }
  int64_t since = 0, start = 0;
  const int64_t reference =
      (kReference - kEpoch) * kMillisPerDay - local.offset * 1000;  // by the offset of the moment
  if (__builtin_sub_overflow(moment, reference, &since)) return std::nullopt;
  const int64_t rest = since - FloorDivide(since, length) * length;
  if (__builtin_sub_overflow(moment, rest, &start)) return std::nullopt;
  return start;
}

enum TruncArg { kDate, kTruncUnit, kBinSize, kTruncZone, kTruncWeek };

absl::StatusOr<bson::Value> EvalDateTrunc(const Call& call) {
  for (const size_t arg : {kDate, kTruncUnit, kBinSize, kTruncZone}) {
    if (call.GivenNull(arg)) return NullValue();
  }
  EVENKEEL_ASSIGN_OR_RETURN(const TimeUnit unit, ParseUnit(call, call.args[kTruncUnit]));
  EVENKEEL_ASSIGN_OR_RETURN(const TimeZone zone, ZoneOf(call, kTruncZone));
  absl::Weekday first = absl::Weekday::sunday;
  if (unit == TimeUnit::kWeek) {
    EVENKEEL_ASSIGN_OR_RETURN(const std::optional<absl::Weekday> given,
                              StartOfWeek(call, kTruncWeek));
    if (!given) return NullValue();
    first = *given;
  }
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t moment,
                            RequireMoment(call, call.args[kDate], Location(5166307)));
  int64_t size = 1;
  if (const bson::Value given = call.args[kBinSize]; !given.missing()) {
    const std::optional<int64_t> exact =
        given.IsNumber() ? bson::ToInt64Exact(given) : std::nullopt;
    if (!exact) {
      return WrongType(call, Location(5439017), "requires 'binSize' to be a 64-bit integer", given);
    }
    if (*exact <= 0) {
      return Error(Location(5439018), "$dateTrunc requires 'binSize' to be greater than 0");
    }
    size = *exact;
  }
  EVENKEEL_ASSIGN_OR_RETURN(const std::optional<int64_t> start,
                            Truncate(moment, unit, size, first, zone));
  if (!start) return DateOverflow(call, Location(5439003));
  return call.arena().Date(*start);
}

constexpr NamedArg kAddArgs[] = {
    {.name = "startDate", .required = true, .missing = Location(5166402)},
    {.name = "unit", .required = true, .missing = Location(5166402)},
    {.name = "amount", .required = true, .missing = Location(5166402)},
    {.name = "timezone"}};
constexpr NamedArg kDiffArgs[] = {
    {.name = "startDate", .required = true, .missing = Location(5166303)},
    {.name = "endDate", .required = true, .missing = Location(5166304)},
    {.name = "unit", .required = true, .missing = Location(5166305)},
    {.name = "timezone"},
    {.name = "startOfWeek"}};
constexpr NamedArg kTruncArgs[] = {{.name = "date", .required = true, .missing = Location(5439009)},
                                   {.name = "unit", .required = true, .missing = Location(5439010)},
                                   {.name = "binSize"},
                                   {.name = "timezone"},
                                   {.name = "startOfWeek"}};

constexpr ExprOp kRows[] = {
    {.name = "$dateAdd",
     .parse = ParseNamed,
     .eval = EvalDateAdd,
     .prepare = PrepareZone<kAddZone>,
     .named = kAddArgs,
     .not_object = Location(5166400),
     .unknown_name = Location(5166401),
     .spec = "operator/aggregation/dateAdd",
     .tests = "expressions/date/dateAdd"},
    {.name = "$dateDiff",
     .parse = ParseNamed,
     .eval = EvalDateDiff,
     .prepare = PrepareZone<kDiffZone>,
     .named = kDiffArgs,
     .not_object = Location(5166301),
     .unknown_name = Location(5166302),
     .spec = "operator/aggregation/dateDiff",
     .tests = "expressions/date/dateDiff"},
    {.name = "$dateSubtract",
     .parse = ParseNamed,
     .eval = EvalDateSubtract,
     .prepare = PrepareZone<kAddZone>,
     .named = kAddArgs,
     .not_object = Location(5166400),
     .unknown_name = Location(5166401),
     .spec = "operator/aggregation/dateSubtract",
     .tests = "expressions/date/dateSubtract"},
    {.name = "$dateTrunc",
     .parse = ParseNamed,
     .eval = EvalDateTrunc,
     .prepare = PrepareZone<kTruncZone>,
     .named = kTruncArgs,
     .not_object = Location(5439007),
     .unknown_name = Location(5439008),
     .spec = "operator/aggregation/dateTrunc",
     .tests = "expressions/date/dateTrunc"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> DateMathOps() { return kRows; }

}  // namespace evenkeel::query::expr
