// The aggregate command's fields, parsed and checked once. The stages are parsed by query/stage.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>

#include "base/bson/view.h"

namespace evenkeel::query {

// Views point into the command's bytes.
struct AggregateRequest {
  bson::View pipeline;  // the array of stages
  bson::View let, collation;
  bson::Value hint;                   // index name or key pattern; missing if none
  std::optional<int64_t> batch_size;  // cursor.batchSize
  bool explain = false;
  bool has_cursor = false;
  std::optional<bool> allow_disk_use;
  bool bypass_document_validation = false;
  bool whole_database = false;  // {aggregate: 1}: no collection
};

// Errors: 40414 without pipeline, TypeMismatch, FailedToParse without cursor and explain or with a
// number other than 1 as collection, BadValue for a negative batch size, 40415.
absl::StatusOr<AggregateRequest> ParseAggregate(bson::View command);

}  // namespace evenkeel::query
