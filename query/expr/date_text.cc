// Implements the reader of dates: at each place one of a few forms of days, times and zones.
#include "query/expr/date_text.h"

#include <algorithm>
#include <string>

namespace evenkeel::query::expr {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t CountDigits(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  absl::StatusOr<DateFields> Read() {
    for (SkipBlanks(); !text_.empty(); SkipBlanks()) {
      if (!ReadPart()) return DateTextError(text_.rest(), "unexpected characters");
    }
    return fields_;
  }

 private:
  void SkipBlanks() {
    constexpr std::string_view kNoBreakSpace = "\u00A0";
    for (;;) {
      if (text_.rest().starts_with(kNoBreakSpace)) {
        text_.Skip(kNoBreakSpace.size());
      } else if (!text_.empty() &&
                 std::string_view(" \t\n\r,\0", 6).find(text_.peek()) != std::string_view::npos) {
        text_.Skip(1);
      } else {
        return;
      }
    }
  }

  // Tries forms from the most to the least particular; each leaves the text as it was when it is
  // not the one.
  bool ReadPart() {
    return Try(&Reader::ReadTime) || Try(&Reader::ReadNumericDay) || Try(&Reader::ReadNamedDay) ||
           Try(&Reader::ReadZone) || Try(&Reader::ReadWeekday);
  }

  bool Try(bool (Reader::*form)()) {
    const TextCursor text = text_;
    const DateFields fields = fields_;
    const bool had_day = has_day_, had_time = has_time_;
    if ((this->*form)()) return true;
    text_ = text;
    fields_ = fields;
    has_day_ = had_day;
    has_time_ = had_time;
    return false;
  }

  // "12:30", "T12:30:45.123", "t123045", "3 pm".
  bool ReadTime() {
    if (has_time_) return false;
    const bool marked = has_day_ && (text_.Take('T') || text_.Take('t'));
    const size_t digits = CountDigits(text_.rest());
    const bool compact = marked && (digits == 4 || digits == 6);
    const std::optional<int64_t> hour = text_.Number(1, 2);
    if (!hour) return false;
    fields_.hour = *hour;
    has_time_ = true;
    if (!compact && !text_.Take(':')) return ReadHalfOfDay();
    const std::optional<int64_t> minute = text_.Number(compact ? 2 : 1, 2);
    if (!minute) return false;
    fields_.minute = *minute;
    if (compact ? digits == 6 : text_.Take(':')) {
      const std::optional<int64_t> second = text_.Number(compact ? 2 : 1, 2);
      if (!second || !ReadFraction()) return false;
      fields_.second = *second;
    }
    if (IsDigit(text_.peek())) return false;
    const TextCursor before = text_;
    if (!ReadHalfOfDay()) text_ = before;
    return true;
  }

  bool ReadFraction() {
    if (text_.peek() != '.' && text_.peek() != ',') return true;
    if (text_.rest().size() < 2 || !IsDigit(text_.rest()[1])) return true;
    text_.Skip(1);
    int64_t scale = 100;
    fields_.millisecond = 0;
    for (; IsDigit(text_.peek()); text_.Skip(1), scale /= 10) {
      fields_.millisecond += (text_.peek() - '0') * scale;
    }
    return true;
  }

  // "am", "p.m."; an hour of 1 to 12 is before it.
  bool ReadHalfOfDay() {
    while (text_.Take(' ')) {
    }
    const char half = static_cast<char>(text_.peek() | 0x20);
    if ((half != 'a' && half != 'p') || fields_.hour < 1 || fields_.hour > 12) return false;
    text_.Skip(1);
    text_.Take('.');
    if (!text_.Take('m') && !text_.Take('M')) return false;
    text_.Take('.');
    if (!text_.Letters().empty()) return false;
    fields_.hour = fields_.hour % 12 + (half == 'p' ? 12 : 0);
    return true;
  }

  // Days in digits only.
  bool ReadNumericDay() {
    if (has_day_) return false;
    has_day_ = true;
    const bool negative = text_.peek() == '-';
    const bool has_sign = negative || text_.peek() == '+';
    if (has_sign) text_.Skip(1);
    const size_t digits = CountDigits(text_.rest());
    if (digits == 8 && !has_sign) {
      fields_.year = text_.Number(4, 4);
      fields_.month = text_.Number(2, 2);
      fields_.day = text_.Number(2, 2);
      return true;
    }
    if (digits == 7 && !has_sign) {
      fields_.year = text_.Number(4, 4);
      fields_.day_of_year = text_.Number(3, 3);
      return true;
    }
    if (digits == 4) {
      fields_.year = text_.Number(4, 4);
      if (negative) fields_.year = -*fields_.year;
      return ReadAfterYear();
    }
    if (digits > 2 || digits == 0 || has_sign) return false;
    return ReadYearLast();
  }

  // What follows "2018".
  bool ReadAfterYear() {
    const char separator = text_.peek();
    if (separator == 'W') return ReadIsoWeek();
    if (separator != '-' && separator != '/' && separator != '.') return false;
    text_.Skip(1);
    if (text_.peek() == 'W') return ReadIsoWeek();
    if (!text_.Letters().empty()) {  // 2018-Mar-20
      return ReadMonthName() && text_.Take(separator) && SetDay(text_.Number(1, 2));
    }
    if (CountDigits(text_.rest()) == 3 && separator != '/') {
      fields_.day_of_year = text_.Number(3, 3);
      return true;
    }
    if (separator == '.') return false;
    fields_.month = text_.Number(1, 2);
    if (!fields_.month) return false;
    if (text_.peek() != separator) {
      fields_.day = 1;  // 2018-03
      return separator == '-';
    }
    text_.Skip(1);
    return SetDay(text_.Number(1, 2));
  }

  // "W12", "W12-2", "W122".
  bool ReadIsoWeek() {
    text_.Skip(1);
    fields_.iso_year = fields_.year;
    fields_.year.reset();
    fields_.iso_week = text_.Number(2, 2);
    text_.Take('-');
    fields_.iso_day = text_.Number(1, 1);
    return fields_.iso_week.has_value() && !IsDigit(text_.peek());
  }

  // "3/20/2018" is American; "20-3-2018" and "20.3.2018" are not; "20-Mar-2018", "20 March 2018".
  bool ReadYearLast() {
    const std::optional<int64_t> first = text_.Number(1, 2);
    const char separator = text_.peek();
    if (separator == '/' || separator == '-' || separator == '.') {
      text_.Skip(1);
      if (!text_.Letters().empty()) {
        return SetDay(first) && ReadMonthName() && text_.Take(separator) && ReadYear();
      }
      const std::optional<int64_t> second = text_.Number(1, 2);
      if (!second || !text_.Take(separator) || !ReadYear()) return false;
      fields_.month = separator == '/' ? first : second;
      fields_.day = separator == '/' ? second : first;
      return true;
    }
    SkipOrdinal();
    SkipBlanks();
    if (!SetDay(first) || !ReadMonthName()) return false;
    SkipBlanks();
    text_.Take('.');
    SkipBlanks();
    return ReadYear();
  }

  // "March 20, 2018", "Mar 20th 2018", "Mar-20-2018".
  bool ReadNamedDay() {
    if (has_day_) return false;
    has_day_ = true;
    if (!ReadMonthName()) return false;
    text_.Take('.');
    text_.Take('-');
    SkipBlanks();
    if (CountDigits(text_.rest()) == 4) {  // March 2018
      fields_.day = 1;
      return ReadYear();
    }
    if (!SetDay(text_.Number(1, 2))) return false;
    SkipOrdinal();
    text_.Take('-');
    SkipBlanks();
    return ReadYear();
  }

  bool ReadMonthName() {
    const std::string_view name = text_.Letters();
    fields_.month = MonthByName(name);
    text_.Skip(name.size());
    return *fields_.month != 0;
  }

  bool ReadYear() {
    if (CountDigits(text_.rest()) != 4) return false;
    fields_.year = text_.Number(4, 4);
    return true;
  }

  bool SetDay(std::optional<int64_t> day) {
    fields_.day = day;
    return day.has_value() && !IsDigit(text_.peek());
  }

  void SkipOrdinal() {
    const std::string_view letters = text_.Letters();
    for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
      if (letters == ending) text_.Skip(ending.size());
    }
  }

  bool ReadZone() {
    if (fields_.zone || !has_time_) return false;
    const std::string_view letters = text_.Letters();
    if ((letters == "GMT" || letters == "UTC") && text_.rest().size() > 3 &&
        (text_.rest()[3] == '+' || text_.rest()[3] == '-')) {
      text_.Skip(3);
    }
    fields_.zone = text_.Zone();
    return fields_.zone.has_value();
  }

  bool ReadWeekday() {
    if (has_weekday_) return false;
    has_weekday_ = true;
    std::string name(text_.Letters());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(c | 0x20); });
    for (const std::string_view day :
         {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}) {
      if (name != day && name != day.substr(0, 3)) continue;
      text_.Skip(name.size());
      return true;
    }
    return false;
  }

  TextCursor text_;
  DateFields fields_;
  bool has_day_ = false;
  bool has_time_ = false;
  bool has_weekday_ = false;
};

}  // namespace

absl::StatusOr<DateFields> ReadDateText(std::string_view text) { return Reader(text).Read(); }

}  // namespace evenkeel::query::expr
