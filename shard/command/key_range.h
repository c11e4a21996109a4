// The range of index keys that find's min and max name: from min on, below max.
//
// A document is in it when one of its keys is. Pure. Source: "min", "max" in the MongoDB manual.
#pragma once

#include <absl/status/statusor.h>

#include "base/bson/document.h"
#include "catalog/collection.h"

namespace evenkeel::shard {

class KeyRange {
 public:
  // `min` and `max` may be empty, not both. `entry` outlives this. Strings
  // compare as in the index.
  // Errors: 51173 without a hint; BadValue for a hint that names no index; 51174 for fields other
  // than the index's; 51175 when min is not below max.
  static absl::StatusOr<KeyRange> Parse(const catalog::CollectionEntry& entry, bson::Value hint,
                                        bson::View min, bson::View max);
  // False also for documents that the index could not hold.
  bool Contains(bson::View document) const;

 private:
  KeyRange(const catalog::IndexEntry& index, bson::View min, bson::View max)
      : index_(&index), min_(min), max_(max) {}
  // Compares by the index's directions.
  int Order(const bson::Value* key, bson::View bound) const;

  const catalog::IndexEntry* index_;
  bson::Document min_, max_;
};

}  // namespace evenkeel::shard
