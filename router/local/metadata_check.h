// Finds where config.* and the shards contradict each other.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/document.h"
#include "router/local/metadata_snapshot.h"

namespace evenkeel::router::local {

// {type, description, details}. Types are MongoDB's where it has one. Source: "Inconsistency
// Types".
class Inconsistencies {
 public:
  // concerns  of a namespace: whether it was asked for.
  explicit Inconsistencies(std::function<bool(std::string_view ns)> concerns)
      : concerns_(std::move(concerns)) {}

  bool Concerns(std::string_view ns) const { return concerns_(ns); }
  // Begins the details of one: its namespace.
  static bson::Builder Details(std::string_view ns);
  void Add(std::string_view type, std::string_view description, bson::Builder details);
  const std::vector<bson::Document>& found() const { return found_; }

 private:
  const std::function<bool(std::string_view)> concerns_;
  std::vector<bson::Document> found_;
};

// Entries against each other and against the rows of the shards; then the routing tables.
void CheckMetadata(const MetadataSnapshot& snapshot, Inconsistencies* out);
// config.chunks of all sharded collections: they cover the space once, lie on shards that there
// are, and say the same as config.assignments.
void CheckChunks(const MetadataSnapshot& snapshot, Inconsistencies* out);

}  // namespace evenkeel::router::local
