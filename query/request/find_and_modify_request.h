// The findAndModify command's fields, parsed and checked once.
#pragma once

#include <absl/status/statusor.h>

#include "base/bson/view.h"

namespace evenkeel::query {

// Views point into the command's bytes. Exactly one of `remove` and `update` is given.
struct FindAndModifyRequest {
  bson::View query, sort, fields, let, collation;
  bson::Value update;  // an object or an array; missing with remove
  bson::Value hint;    // index name or key pattern; missing if none
  bson::View array_filters;
  bool has_array_filters = false;
  bool remove = false;
  bool return_new = false;  // the field "new"
  bool upsert = false;
  bool bypass_document_validation = false;
  bson::Value stmt_id;  // missing if not given
};

// Errors: FailedToParse (9) for neither or both of update and remove, for remove with new, upsert
// or arrayFilters, for wrong types of update and hint; TypeMismatch; 40415.
absl::StatusOr<FindAndModifyRequest> ParseFindAndModify(bson::View command);

}  // namespace evenkeel::query
