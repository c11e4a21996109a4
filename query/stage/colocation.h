// Where the collections of a pipeline lie, as far as their documents lie together.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>

namespace evenkeel::query {

// Sharded collections with equal ranges keep documents with equal values of their hashed fields on
// the same shard.
struct Colocation {
  // The hashed field of the pipeline's own collection; nothing: it lies whole on one shard.
  std::optional<std::string> key;
  // Of other collections by namespace: of unsharded ones on the same shard ("") where the own one
  // is unsharded, else the hashed field of sharded ones with the same ranges.
  absl::flat_hash_map<std::string, std::string> others;
  // Strings are equal only if their bytes are: equal values have equal hashes.
  bool simple_collation = true;

  // True when what a pipeline over `ns` finds lies where the pipeline's rows do, whatever it reads.
  bool Whole(const std::string& ns) const { return !key && others.contains(ns); }
  // True when the documents of `ns` whose `foreign` equals a row's `local` lie where the row does.
  bool ByKey(const std::string& ns, const std::string& local, const std::string& foreign) const {
    const auto other = others.find(ns);
    return key && simple_collation && local == *key && other != others.end() &&
           other->second == foreign;
  }
};

}  // namespace evenkeel::query
