// Coercion to text and counting of code points.
#include "query/expr/text.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>
#include <fmt/format.h>

#include "base/bson/text.h"

namespace evenkeel::query::expr {
namespace {

using bson::Type;

// An ISO date that always shows milliseconds.
std::string DateText(int64_t milliseconds) {
  std::string text = bson::IsoDateText(milliseconds);
  if (text.find('.') == std::string::npos && text.ends_with('Z')) {
    text.insert(text.size() - 1, ".000");
  }
  return text;
}

// "Feb  3 22:40:00:1": a timestamp as these operators have always shown it.
std::string TimestampText(Timestamp timestamp) {
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const absl::CivilSecond at =
      absl::ToCivilSecond(absl::FromUnixSeconds(timestamp.seconds()), absl::UTCTimeZone());
  return fmt::format("{} {:2} {:02}:{:02}:{:02}:{}", kMonths[at.month() - 1], at.day(), at.hour(),
                     at.minute(), at.second(), timestamp.increment());
}

}  // namespace

absl::StatusOr<std::string_view> CoerceToText(const Call& call, bson::Value value) {
  const auto keep = [&call](const std::string& text) {
    return call.arena().String(text).AsString();
  };
  switch (value.type()) {
    case Type::kString:
    case Type::kSymbol:
    case Type::kCode:
      return value.AsString();
    case Type::kEod:
    case Type::kNull:
    case Type::kUndefined:
      return std::string_view();
    case Type::kInt32:
      return keep(fmt::format("{}", value.AsInt32()));
    case Type::kInt64:
      return keep(fmt::format("{}", value.AsInt64()));
    case Type::kDouble:
      return keep(fmt::format("{:g}", value.AsDouble()));
    case Type::kDecimal128:
      return keep(bson::DecimalToString(value.AsDecimal128()));
    case Type::kDate:
      return keep(DateText(value.AsDateMillis()));
    case Type::kTimestamp:
      return keep(TimestampText(value.AsTimestamp()));
    default:
      return Error(Location(16007), "can't convert from BSON type {} to String",
                   TypeName(value.type()));
  }
}

size_t CountCodePoints(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += IsContinuation(c) ? 0 : 1;
  return count;
}

size_t CodePointOffset(std::string_view text, size_t index) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (IsContinuation(text[at])) continue;
    if (index-- == 0) return at;
  }
  return text.size();
}

}  // namespace evenkeel::query::expr
