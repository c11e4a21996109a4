// A part of a collection's documents, told by hashes of a shard key that it has or had.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "base/bson/document.h"
#include "base/bson/view.h"
#include "catalog/shard_key.h"
#include "storage/table.h"

namespace evenkeel::catalog {

struct Part {
  ShardKeyPattern key;
  std::vector<storage::HashSpan> spans;

  // A document that has no place under the key any more is in every part.
  bool Contains(bson::View document) const;
  // {key: pattern, spans: [first, last, first, last, …]}, ends included.
  bson::Document ToBson() const;
  // Errors: InvalidOptions for another form; of ShardKeyPattern::Parse.
  static absl::StatusOr<Part> FromBson(bson::View document);
};

}  // namespace evenkeel::catalog
