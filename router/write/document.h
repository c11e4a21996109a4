// Documents on their way into a collection: `_id` made and put first, sizes and `_id` values
// checked.
#pragma once

#include <absl/status/statusor.h>

#include <optional>

#include "base/bson/document.h"
#include "base/clock.h"

namespace evenkeel::router::write {

// Checks a document that a client inserts.
//
// Returns  a new document where `_id` was missing or not first, or a top-level Timestamp(0, 0) had
// to get its value; nothing where
//          the document can be stored as it is.
// Errors   BSONObjectTooLarge (10334), Overflow for nesting past limits::kBsonDepthMax,
// InvalidIdField (53) for arrays, regular
//          expressions and undefined as `_id`, DollarPrefixedFieldName (52) inside an `_id`.
absl::StatusOr<std::optional<bson::Document>> PrepareDocument(bson::View document,
                                                              base::HybridClock& clock);

}  // namespace evenkeel::router::write
