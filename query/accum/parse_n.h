// The common form {n: …, input: …} of $firstN, $lastN, $maxN, $minN.
#pragma once

#include "query/accum/accumulator.h"

namespace evenkeel::query::accum {

// Parses the object. Errors: 5787801 no object, 5787901 an unknown field, 5787906 no n, 5787907 no
// input.
absl::StatusOr<AccumSpec> ParseWithN(const AccumOp& op, bson::Value args, ParseScope& scope);

// The n of a group. Errors: 5787902 / 5787903 for no whole number, 5787908 for zero and below.
absl::Status ReadN(bson::Value argument, size_t* n);

}  // namespace evenkeel::query::accum
