// The createIndexes command's fields, parsed and checked once.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/bson/view.h"

namespace evenkeel::query {

// How one field of an index is kept.
enum class IndexFieldKind : uint8_t {
  kAscending,
  kDescending,
  kHashed,
  kText,
  k2d,
  k2dsphere,
  kWildcard
};

struct IndexField {
  std::string_view path;
  IndexFieldKind kind = IndexFieldKind::kAscending;
};

// One index to build. Views point into the specification's bytes.
struct IndexSpec {
  bson::View key;                  // as given
  std::vector<IndexField> fields;  // of `key`, in order
  std::string_view name;
  bool unique = false;
  bool sparse = false;
  bool hidden = false;
  bool prepare_unique = false;
  std::optional<int64_t> expire_after_seconds;
  bson::View partial_filter;  // partialFilterExpression
  bool has_partial_filter = false;
  bson::View collation;
  bson::View wildcard_projection;
  bool has_wildcard_projection = false;
  bson::View source;  // the whole specification
};

struct CreateIndexesRequest {
  std::vector<IndexSpec> indexes;
  bool ignore_unknown_index_options = false;
  // Parameters of the service that we follow; accepted, and without effect here.
  bool enable_large_index_keys = false;
  bool blocking = false;
};

// Parses one specification, without looking at the collection. Errors: FailedToParse (9) without
// key or name, CannotCreateIndex (67) for wrong keys and option values, 197 for options that are
// unknown or not allowed for _id, TypeMismatch.
absl::StatusOr<IndexSpec> ParseIndexSpec(bson::View spec, bool ignore_unknown_options = false);

// "a_1_b_-1", "a_hashed": the name that drivers give an index of this key.
std::string DefaultIndexName(bson::View key);

// Errors: those of the specifications, 40414 without indexes, BadValue for an empty list,
// TypeMismatch, 40415.
absl::StatusOr<CreateIndexesRequest> ParseCreateIndexes(bson::View command);

}  // namespace evenkeel::query
