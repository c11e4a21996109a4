// $covariancePop, $covarianceSamp: of two numbers per row, in windows only.
//
// The sum of products of deviations is kept while rows come and go. Pairs with an infinity or NaN
// stand aside: with at least two finite pairs (one for the population) they decide the result.
#include "base/bson/number.h"
#include "query/accum/groups.h"
#include "query/accum/non_finite.h"
#include "query/expr/kernel.h"

namespace evenkeel::query::accum {
namespace {

using bson::Number;
using bson::Type;

// `number` divided by a count, which promotes like a double.
Number DividedBy(const Number& number, int64_t count) {
  const Number by = Number::Double(static_cast<double>(count));
  if (number.type == Type::kDecimal128) {
    return Number::Decimal(bson::DecimalDivide(number.decimal, by.ToDecimal()));
  }
  const double dividend =
      number.type == Type::kDouble ? number.real : static_cast<double>(number.integer);
  return Number::Double(dividend / by.real);
}

class Covariance {
 public:
  void Add(bson::Value x, bson::Value y) {
    if (StandsAside(x, y, 1)) return;
    const Number old_mean = count_ == 0 ? Number::Int32(0) : DividedBy(sum_x_, count_);
    ++count_;
    sum_x_ = bson::Add(sum_x_, Number::From(x));
    sum_y_ = bson::Add(sum_y_, Number::From(y));
    products_ = bson::Add(products_, Product(x, old_mean, y, DividedBy(sum_y_, count_)));
  }
  void Remove(bson::Value x, bson::Value y) {
    if (StandsAside(x, y, -1)) return;
    if (count_ == 1) {
      const NonFinite aside = non_finite_;
      *this = {};
      non_finite_ = aside;
      return;
    }
    const Number old_mean = DividedBy(sum_y_, count_);
    --count_;
    sum_x_ = bson::Subtract(sum_x_, Number::From(x));
    sum_y_ = bson::Subtract(sum_y_, Number::From(y));
    products_ = bson::Subtract(products_, Product(x, DividedBy(sum_x_, count_), y, old_mean));
  }
  void Finish(bool sample, bson::Builder& builder, std::string_view key) const {
    if (count_ == 0 || (sample && count_ == 1)) {
      builder.AppendNull(key);
    } else if (count_ == 1) {
      builder.Append(key, 0.0);
    } else if (!non_finite_.empty()) {
      builder.Append(key, non_finite_.Sum());
    } else {
      builder.Append(key, DividedBy(products_, sample ? count_ - 1 : count_).ToValue());
    }
  }

 private:
  static Number Product(bson::Value x, const Number& mean_x, bson::Value y, const Number& mean_y) {
    return bson::Multiply(bson::Subtract(Number::From(x), mean_x),
                          bson::Subtract(Number::From(y), mean_y));
  }
  bool StandsAside(bson::Value x, bson::Value y, int64_t step) {
    if (!IsNonFinite(x) && !IsNonFinite(y)) return false;
    non_finite_.Count(x, step);
    non_finite_.Count(y, step);
    return true;
  }

  int64_t count_ = 0;
  Number sum_x_, sum_y_, products_;
  NonFinite non_finite_;
};

// The two numbers of [x, y]; false for anything else.
bool ReadPair(bson::Value pair, bson::Value* x, bson::Value* y) {
  if (!pair.Is(Type::kArray)) return false;
  const bson::View array = pair.AsDocument();
  *x = array["0"];
  *y = array["1"];
  return x->IsNumber() && y->IsNumber() && array["2"].missing();
}

template <bool kSample>
class CovarianceState final : public Sliding {
 public:
  absl::Status Add(bson::Value pair, AccumContext&) {
    Add(pair);
    return absl::OkStatus();
  }
  void Add(bson::Value pair) override {
    bson::Value x, y;
    if (ReadPair(pair, &x, &y)) covariance_.Add(x, y);
  }
  void Remove(bson::Value pair) override {
    bson::Value x, y;
    if (ReadPair(pair, &x, &y)) covariance_.Remove(x, y);
  }
  void Finish(bson::Builder& builder, std::string_view key) const override {
    covariance_.Finish(kSample, builder, key);
  }

 private:
  Covariance covariance_;
};

// Like any expression; an array of two is what makes sense.
absl::StatusOr<AccumSpec> ParsePair(const AccumOp& op, bson::Value args, ParseScope& scope) {
  AccumSpec spec{.op = &op};
  EVENKEEL_ASSIGN_OR_RETURN(spec.input, Expression::Parse(args, scope));
  return spec;
}

template <bool kSample>
std::unique_ptr<Sliding> MakeSliding(bson::Value, const bson::StringComparator*) {
  return std::make_unique<CovarianceState<kSample>>();
}

constexpr AccumOp kRows[] = {
    Row<CovarianceState<false>>({.name = "$covariancePop",
                                 .place = AccumPlace::kWindow,
                                 .parse = ParsePair,
                                 .sliding = MakeSliding<false>,
                                 .spec = "operator/aggregation/covariancePop",
                                 .tests = "window/covariancePop"}),
    Row<CovarianceState<true>>({.name = "$covarianceSamp",
                                .place = AccumPlace::kWindow,
                                .parse = ParsePair,
                                .sliding = MakeSliding<true>,
                                .spec = "operator/aggregation/covarianceSamp",
                                .tests = "window/covarianceSamp"}),
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const AccumOp> CovarianceOps() { return kRows; }

}  // namespace evenkeel::query::accum
