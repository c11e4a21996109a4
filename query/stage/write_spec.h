// What $out and $merge say, read once by their stages for errors and once by who writes.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "base/bson/document.h"
#include "query/context.h"

namespace evenkeel::query {

struct OutSpec {
  std::string database, collection;
};

enum class WhenMatched : uint8_t { kReplace, kKeepExisting, kMerge, kFail, kPipeline };
enum class WhenNotMatched : uint8_t { kInsert, kDiscard, kFail };

struct MergeSpec {
  std::string database, collection;
  std::vector<std::string> on;  // empty: _id and the shard key
  WhenMatched when_matched = WhenMatched::kMerge;
  WhenNotMatched when_not_matched = WhenNotMatched::kInsert;
  bson::View pipeline;  // an array, for kPipeline; points into the specification
  bson::View let;       // {name: expression}; without any {new: "$$ROOT"}
};

// Errors: 16990 for neither string nor object, 14, 40413 to 40415 for fields, CommandNotSupported
// for a time series.
absl::StatusOr<OutSpec> ParseOut(bson::Value spec, const QueryContext& context);
// Errors: 51178 to 51199 as MongoDB's, 14, 2, 73, 31319, 31320 for the target, 40414, 40415.
absl::StatusOr<MergeSpec> ParseMerge(bson::Value spec, const QueryContext& context);

}  // namespace evenkeel::query
