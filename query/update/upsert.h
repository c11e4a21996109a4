// The parts of an upsert's new document that do not come from the update: the filter's equalities
// and the _id.
#pragma once

#include <absl/status/statusor.h>

#include "base/bson/document.h"
#include "query/match/filter.h"

namespace evenkeel::query::update {

// A document with the filter's equalities, dotted paths as nested documents. Errors:
// NotSingleValueField (54) for paths that are given twice or lie inside each other, 55 for a part
// of _id beside the whole.
absl::StatusOr<bson::Document> DocumentFromFilter(const Filter& filter);

// Fails with InvalidIdField (53) when `id` may not be an _id.
absl::Status CheckId(bson::Value id);

// `document` with its _id in front, made new when it has none. Errors: those of CheckId.
absl::StatusOr<bson::Document> WithIdFirst(bson::View document);

}  // namespace evenkeel::query::update
