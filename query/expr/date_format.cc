// Compiles, prints and reads formats of dates.
#include "query/expr/date_format.h"

#include <fmt/format.h>

#include <iterator>

#include "base/status.h"
#include "query/expr/date_args.h"

namespace evenkeel::query::expr {
namespace {

constexpr std::string_view kReadable = "BGHLMSVYZbdjmuz";
constexpr std::string_view kOnlyPrintable = "Uw";

absl::Status PrintYear(int64_t year, std::string* out) {
  if (year < 0 || year > 9999) {
    return Error(Location(18537),
                 "$dateToString is only defined on year 0-9999, tried to use year {}", year);
  }
  fmt::format_to(std::back_inserter(*out), "{:04}", year);
  return absl::OkStatus();
}

absl::Status PrintSpecifier(char specifier, const LocalTime& local, std::string* out) {
  const auto print = [out](auto format, int64_t value) {
    fmt::format_to(std::back_inserter(*out), fmt::runtime(format), value);
    return absl::OkStatus();
  };
  const int64_t minutes = local.offset / 60;
  switch (specifier) {
    case 'Y':
      return PrintYear(local.day.year(), out);
    case 'G':
      return PrintYear(IsoWeekOf(local.day).year, out);
    case 'm':
      return print("{:02}", local.day.month());
    case 'd':
      return print("{:02}", local.day.day());
    case 'H':
      return print("{:02}", local.millis / 3'600'000);
    case 'M':
      return print("{:02}", local.millis / 60'000 % 60);
    case 'S':
      return print("{:02}", local.millis / 1000 % 60);
    case 'L':
      return print("{:03}", local.millis % 1000);
    case 'j':
      return print("{:03}", absl::GetYearDay(local.day));
    case 'w':
      return print("{}", DaysSince(local.day, absl::Weekday::sunday) + 1);
    case 'u':
      return print("{}", IsoDayOfWeek(local.day));
    case 'U':
      return print("{:02}", WeekOfYear(local.day));
    case 'V':
      return print("{:02}", IsoWeekOf(local.day).week);
    case 'Z':
      return print("{}", minutes);
    case 'z':
      *out += minutes < 0 ? '-' : '+';
      return print("{:04}", std::abs(minutes) / 60 * 100 + std::abs(minutes) % 60);
    case 'b':
      *out += MonthName(local.day.month()).substr(0, 3);
      return absl::OkStatus();
    default:  // 'B'
      *out += MonthName(local.day.month());
      return absl::OkStatus();
  }
}

// Reads what one specifier stands for; false if it is not there.
bool ReadSpecifier(char specifier, TextCursor& text, DateFields& fields) {
  const auto set = [](auto& field, std::optional<int64_t> value) {
    if (value) field = *value;
    return value.has_value();
  };
  switch (specifier) {
    case 'Y':
      return set(fields.year, text.Number(4, 4));
    case 'G':
      return set(fields.iso_year, text.Number(4, 4));
    case 'm':
      return set(fields.month, text.Number(1, 2));
    case 'd':
      return set(fields.day, text.Number(1, 2));
    case 'H':
      return set(fields.hour, text.Number(1, 2));
    case 'M':
      return set(fields.minute, text.Number(1, 2));
    case 'S':
      return set(fields.second, text.Number(1, 2));
    case 'j':
      return set(fields.day_of_year, text.Number(1, 3));
    case 'u':
      return set(fields.iso_day, text.Number(1, 1));
    case 'V':
      return set(fields.iso_week, text.Number(1, 2));
    case 'L': {
      const size_t before = text.rest().size();
      const std::optional<int64_t> digits = text.Number(1, 3);
      if (!digits) return false;
      const size_t count = before - text.rest().size();
      fields.millisecond = *digits * (count == 1 ? 100 : count == 2 ? 10 : 1);
      return true;
    }
    case 'z':
      fields.zone = text.Zone();
      return fields.zone.has_value();
    case 'Z': {
      const bool negative = text.Take('-');
      if (!negative) text.Take('+');
      const std::optional<int64_t> minutes = text.Number(1, 4);
      if (minutes) fields.zone = TimeZone::Fixed((negative ? -*minutes : *minutes) * 60);
      return minutes.has_value();
    }
    case 'b':
    case 'B': {
      const std::string_view name = text.Letters();
      const int month = MonthByName(name);
      text.Skip(name.size());
      fields.month = month;
      return month != 0;
    }
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<DateFormat> DateFormat::Compile(std::string_view format, Use use) {
  DateFormat compiled;
  const auto literal = [&compiled](char c) {
    if (compiled.parts_.empty() || compiled.parts_.back().specifier != 0) {
      compiled.parts_.emplace_back();
    }
    compiled.parts_.back().literal += c;
  };
  const auto is_specifier = [use](char c) {
    return kReadable.find(c) != std::string_view::npos ||
           (use == Use::kPrint && kOnlyPrintable.find(c) != std::string_view::npos);
  };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      literal(format[i]);
      continue;
    }
    if (++i == format.size()) {
      return Error(Location(18535), "Unmatched '%' at end of format string");
    }
    if (format[i] == '%') {
      literal('%');
    } else if (is_specifier(format[i])) {
      compiled.parts_.push_back({format[i], {}});
    } else {
      return Error(Location(18536), "Invalid format character '%{}' in format string",
                   format.substr(i, 1));
    }
  }
  return compiled;
}

absl::StatusOr<std::string> DateFormat::Print(const LocalTime& local) const {
  std::string text;
  for (const Part& part : parts_) {
    if (part.specifier == 0) {
      text += part.literal;
    } else {
      EVENKEEL_RETURN_IF_ERROR(PrintSpecifier(part.specifier, local, &text));
    }
  }
  return text;
}

absl::StatusOr<DateFields> DateFormat::Read(std::string_view text) const {
  TextCursor cursor(text);
  DateFields fields;
  for (const Part& part : parts_) {
    const bool read = part.specifier != 0 ? ReadSpecifier(part.specifier, cursor, fields)
                                          : cursor.rest().starts_with(part.literal);
    if (!read) return DateTextError(text, "it does not have the form of the format");
    if (part.specifier == 0) cursor.Skip(part.literal.size());
  }
  if (!cursor.empty()) return DateTextError(text, "there is more than the format tells");
  return fields;
}

}  // namespace evenkeel::query::expr
