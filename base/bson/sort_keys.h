// Values as an index with a collation keeps them.
#pragma once

#include "base/bson/compare.h"
#include "base/bson/document.h"

namespace evenkeel::bson {

// True for values whose order or equality a collation can change: strings, and what may hold them.
bool HasCollatedOrder(Value value);

// `value` with every string replaced by its sort key, in objects and arrays too: compared by bytes
// the results are in the collation's order. Names of fields stay.
OwnedValue WithSortKeys(Value value, const StringComparator& collation);

}  // namespace evenkeel::bson
