// The values that a document has under the fields of an index: one tuple per index record.
//
// Pure. An array on a path gives one tuple per element; fields that go through the same array take
// their values from the same element. Source: "Multikey Indexes" in the MongoDB manual.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "base/bson/view.h"
#include "catalog/collection.h"

namespace evenkeel::shard {

struct IndexValues {
  // One after another, each with a value per field of the index; missing where the document has
  // none. Views into the document.
  std::vector<bson::Value> values;
  bool array = false;  // an array was met
};

// MongoDB's documented default of indexMaxNumGeneratedKeysPerDocument.
inline constexpr size_t kIndexTuplesMax = 100'000;

// Errors: CannotBuildIndexKeys (171) for arrays side by side in one index and past
// kIndexTuplesMax, Location16766 for an array under a hashed field.
absl::StatusOr<IndexValues> IndexValuesOf(const catalog::IndexEntry& index, bson::View document);

}  // namespace evenkeel::shard
