// Sums with exact integers and compensated doubles.
#include "query/expr/running_sum.h"

#include <cmath>

namespace evenkeel::query::expr {
namespace {

using bson::Type;

int Width(Type type) {
  switch (type) {
    case Type::kInt32:
      return 0;
    case Type::kInt64:
      return 1;
    case Type::kDouble:
      return 2;
    default:
      return 3;
  }
}

// The same number as the nearest decimal of 34 digits.
bson::Decimal128Bits DecimalOf(Int128 value) {
  constexpr int64_t kBase = 1'000'000'000'000'000'000;
  const bson::Decimal128Bits high = bson::DecimalFromInt64(static_cast<int64_t>(value / kBase));
  const bson::Decimal128Bits low = bson::DecimalFromInt64(static_cast<int64_t>(value % kBase));
  return bson::DecimalAdd(bson::DecimalMultiply(high, bson::DecimalFromInt64(kBase)), low);
}

}  // namespace

void RunningSum::Add(bson::Value value) {
  if (Width(value.type()) > Width(type_)) type_ = value.type();
  switch (value.type()) {
    case Type::kInt32:
      integers_ += value.AsInt32();
      break;
    case Type::kInt64:
      integers_ += value.AsInt64();
      break;
    case Type::kDouble:
      AddDouble(value.AsDouble());
      break;
    default:
      decimals_ = bson::DecimalAdd(decimals_, value.AsDecimal128());
  }
}

void RunningSum::AddDouble(double value) {
  const double sum = doubles_ + value;
  if (!std::isfinite(sum)) special_ = true;
  // Two-sum: the exact error of the addition, whichever operand is larger.
  const double part = sum - doubles_;
  lost_ += (doubles_ - (sum - part)) + (value - part);
  doubles_ = sum;
}

void RunningSum::Merge(const RunningSum& other) {
  if (Width(other.type_) > Width(type_)) type_ = other.type_;
  integers_ += other.integers_;
  AddDouble(other.doubles_);
  if (other.special_) {
    special_ = true;
  } else {
    AddDouble(other.lost_);
  }
  decimals_ = bson::DecimalAdd(decimals_, other.decimals_);
}

double RunningSum::AsDouble() const {
  if (type_ == Type::kDecimal128) return bson::DecimalToDouble(AsDecimal());
  const double whole = static_cast<double>(integers_);
  if (special_) return doubles_ + whole;
  RunningSum sum = *this;
  sum.AddDouble(whole);
  sum.AddDouble(static_cast<double>(integers_ - static_cast<Int128>(whole)));
  return std::isfinite(sum.lost_) ? sum.doubles_ + sum.lost_ : sum.doubles_;
}

bson::Decimal128Bits RunningSum::AsDecimal() const {
  bson::Decimal128Bits sum = decimals_;  // zeros are not added: they would change the exponent
  if (integers_ != 0) sum = bson::DecimalAdd(sum, DecimalOf(integers_));
  if (doubles_ != 0) sum = bson::DecimalAdd(sum, bson::DecimalFromDoubleExact(doubles_));
  if (!special_ && lost_ != 0) sum = bson::DecimalAdd(sum, bson::DecimalFromDoubleExact(lost_));
  return sum;
}

bson::Number RunningSum::Total() const {
  if (type_ == Type::kDecimal128) return bson::Number::Decimal(AsDecimal());
  const bool fits64 = integers_ >= INT64_MIN && integers_ <= INT64_MAX;
  if (type_ == Type::kDouble || !fits64) return bson::Number::Double(AsDouble());
  if (type_ == Type::kInt32 && integers_ >= INT32_MIN && integers_ <= INT32_MAX) {
    return bson::Number::Int32(static_cast<int32_t>(integers_));
  }
  return bson::Number::Int64(static_cast<int64_t>(integers_));
}

bson::Number RunningSum::Average(int64_t count) const {
  if (type_ == Type::kDecimal128) {
    const bson::Decimal128Bits sum = bson::DecimalAdd(AsDecimal(), bson::DecimalFromInt64(0));
    return bson::Number::Decimal(bson::DecimalDivide(sum, bson::DecimalFromInt64(count)));
  }
  return bson::Number::Double(AsDouble() / static_cast<double>(count));
}

std::optional<int64_t> RunningSum::AsMilliseconds() const {
  if (type_ == Type::kInt32 || type_ == Type::kInt64) {
    if (integers_ < INT64_MIN || integers_ > INT64_MAX) return std::nullopt;
    return static_cast<int64_t>(integers_);
  }
  const double rounded = std::round(AsDouble());
  if (!(rounded >= -0x1p63 && rounded < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(rounded);
}

void RunningSum::Serialize(bson::Builder& builder, std::string_view key) const {
  builder.OpenArray(key);
  bson::ArrayAppender array(builder);
  array.Add(static_cast<int32_t>(type_));
  array.Add(static_cast<int64_t>(integers_ >> 64));
  array.Add(static_cast<int64_t>(static_cast<uint64_t>(integers_)));
  array.Add(doubles_);
  array.Add(lost_);
  array.Add(special_);
  builder.AppendDecimal128(array.NextKey(), decimals_);
  builder.Close();
}

RunningSum RunningSum::Deserialize(bson::Value state) {
  RunningSum sum;
  auto at = state.AsDocument().begin();
  sum.type_ = static_cast<Type>(at->value.AsInt32());
  const int64_t high = (++at)->value.AsInt64();
  const auto low = static_cast<uint64_t>((++at)->value.AsInt64());
  sum.integers_ = static_cast<Int128>(static_cast<bson::Uint128>(high) << 64 | low);
  sum.doubles_ = (++at)->value.AsDouble();
  sum.lost_ = (++at)->value.AsDouble();
  sum.special_ = (++at)->value.AsBool();
  sum.decimals_ = (++at)->value.AsDecimal128();
  return sum;
}

}  // namespace evenkeel::query::expr
