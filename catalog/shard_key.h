// A shard key pattern, and where a document belongs under it.
//
// Source: "Hashed Sharding" in the MongoDB manual; DESIGN: catalog and routing.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/bson/document.h"
#include "base/bson/path.h"
#include "base/bson/view.h"
#include "storage/keys/placement.h"

namespace evenkeel::catalog {

// Where a document belongs.
struct Placement {
  int64_t hash = INT64_MIN;  // of the shard key: decides on the range, thereby on the shard
  std::string key;           // in front of `_id` in the document key: decides on the place there
};

// One hashed field, alone or first of a compound: {a: "hashed"}, {a: "hashed", b: 1}.
class ShardKeyPattern {
 public:
  // Errors   BadValue for an empty, non-hashed or several times hashed pattern, directions other
  // than 1, fields that are equal or lie inside each other.
  static absl::StatusOr<ShardKeyPattern> Parse(bson::View pattern);

  bson::View pattern() const { return pattern_.view(); }
  const std::vector<bson::Path>& fields() const { return fields_; }
  const bson::Path& hashed_field() const { return fields_[0]; }
  bool IsById() const { return fields_.size() == 1 && fields_[0].dotted() == "_id"; }

  // The hash that decides on the shard. Missing fields count as null. Errors: ShardKeyNotFound when
  // an array lies on the path.
  absl::StatusOr<int64_t> HashOf(bson::View document) const;
  // The placement key is the hash by `by`, then the encoded ordered fields. Errors: as HashOf;
  // BadValue for a key that is too long.
  absl::StatusOr<Placement> PlacementOf(bson::View document, storage::PlacedBy by) const;
  // {field: value, …} of a document, missing fields as null.
  bson::Document KeyOf(bson::View document) const;

 private:
  bson::Document pattern_;
  std::vector<bson::Path> fields_;
};

}  // namespace evenkeel::catalog
