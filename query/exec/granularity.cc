// The series, and rounding to them.
#include "query/exec/granularity.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace evenkeel::query {
namespace {

constexpr double kR5[] = {1.0, 1.6, 2.5, 4.0, 6.3};
constexpr double kR10[] = {1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0};
constexpr double kR20[] = {1.0,  1.12, 1.25, 1.4, 1.6, 1.8, 2.0, 2.24, 2.5, 2.8,
                           3.15, 3.55, 4.0,  4.5, 5.0, 5.6, 6.3, 7.1,  8.0, 9.0};
constexpr double kR40[] = {1.0,  1.06, 1.12, 1.18, 1.25, 1.32, 1.4, 1.5,  1.6, 1.7,
                           1.8,  1.9,  2.0,  2.12, 2.24, 2.36, 2.5, 2.65, 2.8, 3.0,
                           3.15, 3.35, 3.55, 3.75, 4.0,  4.25, 4.5, 4.75, 5.0, 5.3,
                           5.6,  6.0,  6.3,  6.7,  7.1,  7.5,  8.0, 8.5,  9.0, 9.5};
constexpr double kR80[] = {
    1.0, 1.03, 1.06, 1.09, 1.12, 1.15, 1.18, 1.22, 1.25, 1.28, 1.32, 1.36, 1.4,  1.45, 1.5,  1.55,
    1.6, 1.65, 1.7,  1.75, 1.8,  1.85, 1.9,  1.95, 2.0,  2.06, 2.12, 2.18, 2.24, 2.3,  2.36, 2.43,
    2.5, 2.58, 2.65, 2.72, 2.8,  2.9,  3.0,  3.07, 3.15, 3.25, 3.35, 3.45, 3.55, 3.65, 3.75, 3.87,
    4.0, 4.12, 4.25, 4.37, 4.5,  4.62, 4.75, 4.87, 5.0,  5.15, 5.3,  5.45, 5.6,  5.8,  6.0,  6.15,
    6.3, 6.5,  6.7,  6.9,  7.1,  7.3,  7.5,  7.75, 8.0,  8.25, 8.5,  8.75, 9.0,  9.25, 9.5,  9.75};
constexpr double k125[] = {1.0, 2.0, 5.0};
constexpr double kE6[] = {1.0, 1.5, 2.2, 3.3, 4.7, 6.8};
constexpr double kE12[] = {1.0, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2};
constexpr double kE24[] = {1.0, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2.0, 2.2, 2.4, 2.7, 3.0,
                           3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6, 6.2, 6.8, 7.5, 8.2, 9.1};

struct Series {
  std::string_view name;
  std::span<const double> numbers;  // empty: see `steps`
  int steps = 0;                    // as many equal ratios per decade, rounded to three digits
};

constexpr Series kSeries[] = {
    {"1-2-5", k125}, {"E12", kE12},   {"E192", {}, 192}, {"E24", kE24}, {"E48", {}, 48},
    {"E6", kE6},     {"E96", {}, 96}, {"POWERSOF2", {}}, {"R10", kR10}, {"R20", kR20},
    {"R40", kR40},   {"R5", kR5},     {"R80", kR80},
};

}  // namespace

std::unique_ptr<Granularity> Granularity::Find(std::string_view name) {
  const auto found = std::find_if(std::begin(kSeries), std::end(kSeries),
                                  [name](const Series& series) { return series.name == name; });
  if (found == std::end(kSeries)) return nullptr;
  auto out = std::make_unique<Granularity>();
  out->series_.assign(found->numbers.begin(), found->numbers.end());
  for (int i = 0; i < found->steps; ++i) {
    // The standard has 9.20 where the formula gives 9.19.
    const double exact = std::pow(10.0, static_cast<double>(i) / found->steps);
    const double rounded = std::round(exact * 100) / 100;
    out->series_.push_back(rounded == 9.19 ? 9.2 : rounded);
  }
  return out;
}

double Granularity::RoundUp(double value) const {
  if (value == 0) return 0;
  if (series_.empty()) return std::exp2(std::floor(std::log2(value)) + 1);
  double decade = std::pow(10.0, std::floor(std::log10(value)) - 1);
  for (;; decade *= 10) {
    for (const double number : series_) {
      if (number * decade > value) return number * decade;
    }
  }
}

double Granularity::RoundDown(double value) const {
  if (value == 0) return 0;
  if (series_.empty()) return std::exp2(std::ceil(std::log2(value)) - 1);
  double decade = std::pow(10.0, std::floor(std::log10(value)) + 1);
  for (;; decade /= 10) {
    if (decade == 0) return 0;
    for (size_t i = series_.size(); i-- > 0;) {
      if (series_[i] * decade < value) return series_[i] * decade;
    }
  }
}

}  // namespace evenkeel::query
