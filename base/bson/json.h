// Extended JSON in and out, for logs, error messages, tests and tools. Source: the Extended
// JSON 2.0 specification.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "base/bson/document.h"

namespace evenkeel::bson {

// Relaxed Extended JSON.
std::string ToJson(View document);
// Canonical Extended JSON: types survive a round trip.
std::string ToCanonicalJson(View document);
// One value as MongoDB's error messages show it: 1, "text", { a: 1 }. At most `bytes_max` bytes,
// then "...".
std::string ToDisplay(Value value, size_t bytes_max = 200);
// Errors: FailedToParse with the position. Accepts both forms of Extended JSON.
absl::StatusOr<Document> FromJson(std::string_view json);

}  // namespace evenkeel::bson
