// The create command's fields, parsed and checked once.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bson/view.h"

namespace evenkeel::query {

// Views point into the command's bytes. Options that the catalog stores are kept as they came.
struct CreateRequest {
  bool capped = false;
  std::optional<int64_t> size_bytes;  // of a capped collection
  std::optional<int64_t> max_documents;
  bson::View validator;
  bool has_validator = false;
  std::string_view validation_level;   // empty if not given
  std::string_view validation_action;  // empty if not given
  bson::View collation;
  std::string_view view_on;  // empty: no view
  bson::View pipeline;       // of a view: an array
  bson::Value clustered_index, timeseries, expire_after_seconds, encrypted_fields;
  bson::View change_stream_pre_and_post_images, storage_engine, index_option_defaults, id_index;
};

// Errors: TypeMismatch, BadValue, InvalidOptions (72) for combinations that contradict each other,
// 40415.
absl::StatusOr<CreateRequest> ParseCreate(bson::View command);

}  // namespace evenkeel::query
