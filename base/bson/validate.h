// Validates BSON from clients and peers in one pass; everything else trusts bytes that passed.
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "base/limits.h"

namespace evenkeel::bson {

// Checks that `bytes` are exactly one well-formed document: lengths, types, terminators, strings'
// terminating zero, UTF-8 of keys and strings is not required (drivers may store other bytes;
// MongoDB does not check it either), nesting.
//
// Errors   InvalidBSON (22) naming the offset; Overflow (15) past `depth_max` levels.
// Limits   time linear in the bytes, no recursion, no allocation up to 256 levels.
absl::Status Validate(std::string_view bytes, int depth_max = limits::kCommandDepthMax);

}  // namespace evenkeel::bson
