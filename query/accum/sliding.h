// The accumulators that windows can take values out of again.
#pragma once

#include <memory>

#include "query/accum/accumulator.h"

namespace evenkeel::query::accum {

std::unique_ptr<Sliding> MakeSlidingSum(bson::Value argument, const bson::StringComparator*);
std::unique_ptr<Sliding> MakeSlidingAvg(bson::Value argument, const bson::StringComparator*);
template <bool kSample>
std::unique_ptr<Sliding> MakeSlidingDeviation(bson::Value argument, const bson::StringComparator*);
// The highest (kSign 1) or lowest (-1) value; the first n of them.
template <int kSign>
std::unique_ptr<Sliding> MakeSlidingExtreme(bson::Value argument, const bson::StringComparator*);
template <int kSign>
std::unique_ptr<Sliding> MakeSlidingExtremeN(bson::Value argument, const bson::StringComparator*);

}  // namespace evenkeel::query::accum
