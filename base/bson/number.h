// Arithmetic and conversion over BSON's four number types, with MongoDB's promotion rules.
//
// int32 op int32 overflows to int64, int64 to double; double with an integer is double; decimal
// wins over all.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bson/decimal.h"
#include "base/bson/document.h"
#include "base/bson/view.h"

namespace evenkeel::bson {

// One number of any width, by value.
struct Number {
  Type type = Type::kInt32;  // kInt32, kInt64, kDouble, kDecimal128
  int64_t integer = 0;       // for kInt32, kInt64
  double real = 0;           // for kDouble
  Decimal128Bits decimal;    // for kDecimal128

  static Number Int32(int32_t v) { return {Type::kInt32, v, 0, {}}; }
  static Number Int64(int64_t v) { return {Type::kInt64, v, 0, {}}; }
  static Number Double(double v) { return {Type::kDouble, 0, v, {}}; }
  static Number Decimal(Decimal128Bits v) { return {Type::kDecimal128, 0, 0, v}; }
  // `value` must be a number.
  static Number From(Value value);
  OwnedValue ToValue() const;
  // The decimal it promotes to; doubles with 15 significant digits.
  Decimal128Bits ToDecimal() const;
};

Number Add(Number a, Number b);
Number Subtract(Number a, Number b);
Number Multiply(Number a, Number b);

// Mathematical comparison over all widths; NaN lowest.
int CompareNumbers(Value a, Value b);

// The nearest double; decimals rounded.
double ToDouble(Value number);
// Truncated towards zero; clamped to the int64 range; NaN is 0.
int64_t ToInt64Truncated(Value number);
// The int64 a number equals exactly (3, 3.0, NumberDecimal("3")), nothing otherwise. For options
// such as limit and batchSize.
std::optional<int64_t> ToInt64Exact(Value number);

// MongoDB's idea of truth: false, 0 of any width, null, undefined and missing are false.
bool Truthy(Value value);

}  // namespace evenkeel::bson
