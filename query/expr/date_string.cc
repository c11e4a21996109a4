// $dateFromString and $dateToString: dates and texts.
#include "query/expr/date_args.h"
#include "query/expr/date_format.h"
#include "query/expr/date_text.h"
#include "query/expr/groups.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

// The zone and format of a query when they are the same for every document.
struct FormatState final : ZoneState {
  std::optional<DateFormat> format;
};

template <size_t Format, size_t Zone, int NotString, DateFormat::Use Use>
absl::StatusOr<std::unique_ptr<OpState>> PrepareFormat(
    std::span<const std::optional<bson::Value>> constants, const QueryContext&) {
  auto state = std::make_unique<FormatState>();
  EVENKEEL_RETURN_IF_ERROR(state->SetZone(constants, Zone));
  const std::optional<bson::Value>& format = constants[Format];
  if (format && !format->IsNullish()) {
    if (!format->Is(Type::kString)) {
      return Error(Location(NotString), "the format must be a string, found: {}",
                   TypeName(format->type()));
    }
    EVENKEEL_ASSIGN_OR_RETURN(state->format, DateFormat::Compile(format->AsString(), Use));
  }
  return state;
}

// The format of this call, compiled into `*own` unless the state has it. Requires that it is given
// and not null.
absl::StatusOr<const DateFormat*> FormatOf(const Call& call, size_t arg, int not_string,
                                           DateFormat::Use use, std::optional<DateFormat>* own) {
  const auto& state = static_cast<const FormatState&>(*call.state);
  if (state.format) return &*state.format;
  if (!call.args[arg].Is(Type::kString)) {
    return WrongType(call, Location(not_string), "requires that 'format' be a string",
                     call.args[arg]);
  }
  EVENKEEL_ASSIGN_OR_RETURN(*own, DateFormat::Compile(call.args[arg].AsString(), use));
  return &**own;
}

// ---- $dateToString ----

enum ToStringArg { kDate, kToFormat, kToZone, kToOnNull };
constexpr int kToFormatNotString = 18533;

const DateFormat& DefaultFormat(bool utc) {
  static const DateFormat with_z =
      *DateFormat::Compile("%Y-%m-%dT%H:%M:%S.%LZ", DateFormat::Use::kPrint);
  static const DateFormat without =
      *DateFormat::Compile("%Y-%m-%dT%H:%M:%S.%L", DateFormat::Use::kPrint);
  return utc ? with_z : without;
}

absl::StatusOr<bson::Value> EvalDateToString(const Call& call) {
  if (call.GivenNull(kToFormat)) return NullValue();
  std::optional<DateFormat> own;
  const DateFormat* format = nullptr;
  if (call.Given(kToFormat)) {
    EVENKEEL_ASSIGN_OR_RETURN(
        format, FormatOf(call, kToFormat, kToFormatNotString, DateFormat::Use::kPrint, &own));
  }
  if (call.args[kDate].IsNullish()) {
    return call.Given(kToOnNull) ? call.EvaluateLazy(kToOnNull) : NullValue();
  }
  if (call.GivenNull(kToZone)) return NullValue();
  EVENKEEL_ASSIGN_OR_RETURN(const TimeZone zone, ZoneOf(call, kToZone));
  EVENKEEL_ASSIGN_OR_RETURN(const int64_t moment,
                            RequireMoment(call, call.args[kDate], Location(16006)));
  if (format == nullptr) format = &DefaultFormat(zone.is_utc());
  EVENKEEL_ASSIGN_OR_RETURN(const std::string text, format->Print(zone.ToLocal(moment)));
  return call.arena().String(text);
}

// ---- $dateFromString ----

enum FromStringArg { kText, kFromFormat, kFromZone, kFromOnNull, kOnError };
constexpr int kFromFormatNotString = 40684;

absl::StatusOr<int64_t> ReadMoment(const Call& call, const TimeZone& zone,
                                   const DateFormat* format) {
  if (!call.args[kText].Is(Type::kString)) {
    return WrongType(call, ErrorCode::kConversionFailure, "requires that 'dateString' be a string",
                     call.args[kText]);
  }
  const std::string_view text = call.args[kText].AsString();
  const absl::StatusOr<DateFields> fields =
      format != nullptr ? format->Read(text) : ReadDateText(text);
  if (!fields.ok()) return fields.status();
  return MomentOfFields(*fields, zone, text);
}

absl::StatusOr<bson::Value> EvalDateFromString(const Call& call) {
  std::optional<DateFormat> own;
  const DateFormat* format = nullptr;
  const bool no_format = call.GivenNull(kFromFormat);
  if (call.Given(kFromFormat) && !no_format) {
    EVENKEEL_ASSIGN_OR_RETURN(
        format, FormatOf(call, kFromFormat, kFromFormatNotString, DateFormat::Use::kRead, &own));
  }
  TimeZone zone;
  if (!call.GivenNull(kFromZone)) {
    EVENKEEL_ASSIGN_OR_RETURN(zone, ZoneOf(call, kFromZone));
  }
  if (call.args[kText].IsNullish()) {
    return call.Given(kFromOnNull) ? call.EvaluateLazy(kFromOnNull) : NullValue();
  }
  if (no_format || call.GivenNull(kFromZone)) return NullValue();
  const absl::StatusOr<int64_t> moment = ReadMoment(call, zone, format);
  if (moment.ok()) return call.arena().Date(*moment);
  if (call.Given(kOnError) && CodeOf(moment.status()) == ErrorCode::kConversionFailure) {
    return call.EvaluateLazy(kOnError);
  }
  return moment.status();
}

constexpr NamedArg kToStringArgs[] = {
    {.name = "date", .required = true, .missing = Location(18628)},
    {.name = "format"},
    {.name = "timezone"},
    {.name = "onNull", .lazy = true}};
constexpr NamedArg kFromStringArgs[] = {
    {.name = "dateString", .required = true, .missing = Location(40542)},
    {.name = "format"},
    {.name = "timezone"},
    {.name = "onNull", .lazy = true},
    {.name = "onError", .lazy = true}};

constexpr ExprOp kRows[] = {
    {.name = "$dateFromString",
     .parse = ParseNamed,
     .eval = EvalDateFromString,
     .prepare = PrepareFormat<kFromFormat, kFromZone, kFromFormatNotString, DateFormat::Use::kRead>,
     .named = kFromStringArgs,
     .not_object = Location(40540),
     .unknown_name = Location(40541),
     .spec = "operator/aggregation/dateFromString",
     .tests = "expressions/date/dateFromString"},
    {.name = "$dateToString",
     .parse = ParseNamed,
     .eval = EvalDateToString,
     .prepare = PrepareFormat<kToFormat, kToZone, kToFormatNotString, DateFormat::Use::kPrint>,
     .named = kToStringArgs,
     .not_object = Location(18629),
     .unknown_name = Location(18534),
     .spec = "operator/aggregation/dateToString",
     .tests = "expressions/date/dateToString"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const ExprOp> DateStringOps() { return kRows; }

}  // namespace evenkeel::query::expr
