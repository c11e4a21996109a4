// Sums, deviations and extremes of moving windows.
#include "query/accum/sliding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include "base/bson/document.h"
#include "query/accum/non_finite.h"
#include "query/accum/parse_n.h"
#include "query/expr/kernel.h"
#include "query/expr/running_sum.h"

namespace evenkeel::query::accum {
namespace {

using bson::Type;

// Adds the number of the other sign. The lowest integers have none of their own width: two steps.
void Subtract(expr::RunningSum& sum, bson::Value value) {
  EvalArena arena;
  const bson::Number number = bson::Number::From(value);
  if (number.type == Type::kInt32 && number.integer == INT32_MIN) {
    sum.Add(arena.Int32(INT32_MAX));
    sum.Add(arena.Int32(1));
  } else if (number.type == Type::kInt64 && number.integer == INT64_MIN) {
    sum.Add(arena.Int64(INT64_MAX));
    sum.Add(arena.Int64(1));
  } else if (number.type == Type::kInt32) {
    sum.Add(arena.Int32(static_cast<int32_t>(-number.integer)));
  } else if (number.type == Type::kInt64) {
    sum.Add(arena.Int64(-number.integer));
  } else if (number.type == Type::kDouble) {
    sum.Add(arena.Double(-number.real));
  } else {
    sum.Add(arena.Decimal(expr::Negate(number.decimal)));
  }
}

// A sum per type of number, so that the type of the result goes back when a value leaves.
template <bool kAverage>
class SlidingSum final : public Sliding {
 public:
  void Add(bson::Value value) override { Move(value, 1); }
  void Remove(bson::Value value) override { Move(value, -1); }
  void Finish(bson::Builder& builder, std::string_view key) const override {
    const int64_t count = Count();
    if (kAverage && count == 0) {
      builder.AppendNull(key);
    } else if (!non_finite_.empty()) {
      AppendNonFinite(builder, key);
    } else {
      expr::RunningSum total;
      for (const Part& part : parts_) {
        if (part.count > 0) total.Merge(part.sum);
      }
      builder.Append(key, (kAverage ? total.Average(count) : total.Total()).ToValue());
    }
  }

 private:
  struct Part {
    expr::RunningSum sum;
    int64_t count = 0;
  };
  Part& PartOf(Type type) {
    return parts_[type == Type::kInt32    ? 0
                  : type == Type::kInt64  ? 1
                  : type == Type::kDouble ? 2
                                          : 3];
  }
  int64_t Count() const {
    int64_t count = 0;
    for (const Part& part : parts_) count += part.count;
    return count;
  }
  void Move(bson::Value value, int64_t step) {
    if (!value.IsNumber()) return;
    Part& part = PartOf(value.type());
    part.count += step;
    if (IsNonFinite(value)) {
      non_finite_.Count(value, step);
    } else if (step > 0) {
      part.sum.Add(value);
    } else {
      Subtract(part.sum, value);
    }
    if (part.count == 0) part.sum = {};
  }
  void AppendNonFinite(bson::Builder& builder, std::string_view key) const {
    const double sum = non_finite_.Sum();
    if (parts_[3].count > 0) {
      builder.AppendDecimal128(key, bson::DecimalFromDouble(sum));
    } else {
      builder.Append(key, sum);
    }
  }

  std::array<Part, 4> parts_;  // int32, int64, double, decimal
  NonFinite non_finite_;
};

template <bool kSample>
class SlidingDeviation final : public Sliding {
 public:
  void Add(bson::Value value) override {
    if (!value.IsNumber()) return;
    non_finite_.Count(value, 1);
    if (IsNonFinite(value)) return;
    const double number = bson::ToDouble(value);
    ++count_;
    sum_ += number;
    if (count_ > 1) squares_ += Share(number);
  }
  void Remove(bson::Value value) override {
    if (!value.IsNumber()) return;
    non_finite_.Count(value, -1);
    if (IsNonFinite(value)) return;
    const double number = bson::ToDouble(value);
    if (count_ > 1) squares_ = std::max(0.0, squares_ - Share(number));
    --count_;
    sum_ -= number;
    if (count_ == 0) sum_ = 0;
    if (count_ <= 1) squares_ = 0;
  }
  void Finish(bson::Builder& builder, std::string_view key) const override {
    if (!non_finite_.empty() || count_ == 0 || (kSample && count_ == 1)) {
      builder.AppendNull(key);
    } else if (count_ == 1) {
      builder.Append(key, int32_t{0});
    } else {
      builder.Append(key, std::sqrt(squares_ / static_cast<double>(kSample ? count_ - 1 : count_)));
    }
  }

 private:
  // What a number among `count_` of them adds to the sum of squared deviations.
  double Share(double number) const {
    const auto n = static_cast<double>(count_);
    const double distance = n * number - sum_;
    return distance * distance / (n * (n - 1));
  }

  int64_t count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  NonFinite non_finite_;
};

// The values of the window, best first.
template <int kSign>
class SlidingExtremes final : public Sliding {
 public:
  SlidingExtremes(size_t n, bool as_array, const bson::StringComparator* collation)
      : n_(n), as_array_(as_array), values_(Better{collation}) {}

  void Add(bson::Value value) override {
    if (!value.IsNullish()) values_.emplace(value);
  }
  void Remove(bson::Value value) override {
    if (value.IsNullish()) return;
    // Of equal ones the one that came first has the same bytes.
    const auto range = values_.equal_range(bson::OwnedValue(value));
    for (auto at = range.first; at != range.second; ++at) {
      if (!bson::Identical(at->value(), value)) continue;
      values_.erase(at);
      return;
    }
  }
  void Finish(bson::Builder& builder, std::string_view key) const override {
    if (!as_array_) {
      if (values_.empty()) {
        builder.AppendNull(key);
      } else {
        builder.Append(key, *values_.begin());
      }
      return;
    }
    builder.OpenArray(key);
    bson::ArrayAppender array(builder);
    for (auto at = values_.begin(); at != values_.end() && array.count() < n_; ++at) array.Add(*at);
    builder.Close();
  }

 private:
  struct Better {
    const bson::StringComparator* collation;
    bool operator()(const bson::OwnedValue& a, const bson::OwnedValue& b) const {
      return kSign * bson::Compare(a.value(), b.value(), collation) > 0;
    }
  };
  size_t n_;
  bool as_array_;
  std::multiset<bson::OwnedValue, Better> values_;
};

}  // namespace

std::unique_ptr<Sliding> MakeSlidingSum(bson::Value, const bson::StringComparator*) {
  return std::make_unique<SlidingSum<false>>();
}
std::unique_ptr<Sliding> MakeSlidingAvg(bson::Value, const bson::StringComparator*) {
  return std::make_unique<SlidingSum<true>>();
}
template <bool kSample>
std::unique_ptr<Sliding> MakeSlidingDeviation(bson::Value, const bson::StringComparator*) {
  return std::make_unique<SlidingDeviation<kSample>>();
}
template <int kSign>
std::unique_ptr<Sliding> MakeSlidingExtreme(bson::Value, const bson::StringComparator* collation) {
  return std::make_unique<SlidingExtremes<kSign>>(1, false, collation);
}
template <int kSign>
std::unique_ptr<Sliding> MakeSlidingExtremeN(bson::Value argument,
                                             const bson::StringComparator* collation) {
  size_t n = 1;
  // An argument that is not good has been refused before.
  if (!ReadN(argument, &n).ok()) n = 1;
  return std::make_unique<SlidingExtremes<kSign>>(n, true, collation);
}

template std::unique_ptr<Sliding> MakeSlidingDeviation<false>(bson::Value,
                                                              const bson::StringComparator*);
template std::unique_ptr<Sliding> MakeSlidingDeviation<true>(bson::Value,
                                                             const bson::StringComparator*);
template std::unique_ptr<Sliding> MakeSlidingExtreme<1>(bson::Value, const bson::StringComparator*);
template std::unique_ptr<Sliding> MakeSlidingExtreme<-1>(bson::Value,
                                                         const bson::StringComparator*);
template std::unique_ptr<Sliding> MakeSlidingExtremeN<1>(bson::Value,
                                                         const bson::StringComparator*);
template std::unique_ptr<Sliding> MakeSlidingExtremeN<-1>(bson::Value,
                                                          const bson::StringComparator*);

}  // namespace evenkeel::query::accum
