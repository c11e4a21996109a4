// The part of `$shard` that names the other collections which a shard may read for a pipeline by
// itself: `f: [{n, c, v}]`.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/bson/builder.h"
#include "wire/protocol/shard_envelope.h"

namespace evenkeel::wire {

inline constexpr std::string_view kForeignField = "f";

struct ForeignCollection {
  std::string ns;  // as the pipeline's stages name it
  CollectionId collection;
  CatalogVersion version;  // as the router knows it
};

// Appends the envelope with them.
void AppendEnvelope(bson::Builder& builder, const ShardEnvelope& envelope,
                    const std::vector<ForeignCollection>& foreign);
// Errors: InvalidOptions for malformed ones.
absl::StatusOr<std::vector<ForeignCollection>> ParseForeign(bson::View body);

}  // namespace evenkeel::wire
