// Preferred numbers: the boundaries that $bucketAuto rounds to. Source: "Granularity" of
// $bucketAuto in the manual; ISO 3, IEC 60063.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace evenkeel::query {

class Granularity {
 public:
  // "R5", "R10", …, "E6", …, "1-2-5", "POWERSOF2"; null for other names.
  static std::unique_ptr<Granularity> Find(std::string_view name);

  // The smallest number of the series above `value`; requires a number of at least 0. 0 stays 0.
  double RoundUp(double value) const;
  // The largest number of the series below `value`.
  double RoundDown(double value) const;

 private:
  std::vector<double> series_;  // of one decade, ascending, in [1, 10); empty: powers of two
};

}  // namespace evenkeel::query
