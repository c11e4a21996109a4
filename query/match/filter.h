// A compiled filter: what find, update, delete, count and $match accept.
//
// Compiled once per query, evaluated on documents in place without allocation. Source: "Query and Projection Operators" in the manual.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "query/context.h"

namespace evenkeel::query {

class MatchNode;  // query/match/node.h

class Filter {
 public:
  // Compiles `filter`, which is copied. Errors: BadValue and others as MongoDB's, naming operator and value.
  static absl::StatusOr<Filter> Parse(bson::View filter, const QueryContext& context);
  Filter();  // matches everything
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  bool Matches(bson::View document) const;
  // True for {}: no condition at all.
  bool IsTrivial() const;
  bson::View source() const;

  // The values that `path` must equal for a document to match ($eq, $in without regexes, nothing nested in $or): for targeting and point reads.
  // Nothing when the filter does not pin the path to a finite set. An equality with null or an array is not reported as pinned.
  std::optional<std::vector<bson::Value>> PinnedValues(std::string_view path) const;
  // Top-level equalities {path: value} that an upsert copies into its new document.
  std::vector<bson::Element> Equalities() const;
  const MatchNode& root() const;

 private:
  explicit Filter(bson::Document source);
  bson::Document source_;
  std::unique_ptr<MatchNode> root_;
};

}  // namespace evenkeel::query
