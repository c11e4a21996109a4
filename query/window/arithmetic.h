// Arithmetic between sorted values and inputs of window functions.
#pragma once

#include "base/bson/decimal.h"
#include "base/bson/number.h"
#include "base/bson/view.h"

namespace evenkeel::query::window {

// a / b: a decimal when one takes part, else a double.
inline bson::Number Divide(const bson::Number& a, const bson::Number& b) {
  if (a.type == bson::Type::kDecimal128 || b.type == bson::Type::kDecimal128) {
    return bson::Number::Decimal(bson::DecimalDivide(a.ToDecimal(), b.ToDecimal()));
  }
  const auto as_double = [](const bson::Number& number) {
    return number.type == bson::Type::kDouble ? number.real : static_cast<double>(number.integer);
  };
  return bson::Number::Double(as_double(a) / as_double(b));
}

// b - a of two numbers, or of two dates in milliseconds.
inline bson::Number Distance(bson::Value a, bson::Value b) {
  if (a.Is(bson::Type::kDate)) {
    return bson::Subtract(bson::Number::Int64(b.AsDateMillis()),
                          bson::Number::Int64(a.AsDateMillis()));
  }
  return bson::Subtract(bson::Number::From(b), bson::Number::From(a));
}

}  // namespace evenkeel::query::window
