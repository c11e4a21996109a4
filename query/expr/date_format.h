// Formats of dates ("%Y-%m-%d"): compiled once, to print dates and to read them.
//
// Source: "Format Specifiers" of $dateToString and $dateFromString in the manual.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "query/expr/date_fields.h"

namespace evenkeel::query::expr {

class DateFormat {
 public:
  enum class Use : uint8_t { kPrint, kRead };
  // Errors: 18535 for a "%" at the end, 18536 for a specifier that is unknown or not for this use.
  static absl::StatusOr<DateFormat> Compile(std::string_view format, Use use);

  // The date as text. Errors: 18537 when the format shows a year outside 0 to 9999.
  absl::StatusOr<std::string> Print(const LocalTime& local) const;
  // Reads a text that has exactly this form. Errors: ConversionFailure (241).
  absl::StatusOr<DateFields> Read(std::string_view text) const;

 private:
  // A specifier's letter, or 0 and text that stands for itself.
  struct Part {
    char specifier = 0;
    std::string literal;
  };
  std::vector<Part> parts_;
};

}  // namespace evenkeel::query::expr
