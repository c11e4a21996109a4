// A compiled filter: what find, update, delete, count and $match accept.
//
// Compiled once per query, evaluated on documents in place without allocation. One thread at a
// time. The context that it is compiled with outlives it. Source: "Query and Projection Operators"
// in the MongoDB manual.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "query/context.h"

namespace evenkeel::query {

class MatchNode;      // query/match/node.h
struct MatchDetails;  // query/match/node.h

class Filter {
 public:
  // Compiles `filter`, which is copied. Errors: BadValue and others as MongoDB's, naming operator
  // and value.
  static absl::StatusOr<Filter> Parse(bson::View filter, const QueryContext& context);
  // Compiles {value: <operators>}, for MatchesValue: what $pull and $elemMatch say about array
  // elements.
  static absl::StatusOr<Filter> ParseValue(bson::View operators, const QueryContext& context);
  Filter();  // matches everything
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  // An expression ($expr) that fails does not match; Evaluate reports why.
  bool Matches(bson::View document) const;
  // The same with the errors of $expr. Where the filter can fail (HasExpression), a query must use
  // this.
  absl::StatusOr<bool> Evaluate(bson::View document) const;
  bool HasExpression() const;
  // Matches a document whose only field is the one that all paths start with, having this value.
  // Requires that the paths have one first part in common (a filter from ParseValue, an array
  // filter).
  bool MatchesValue(bson::Value value) const;
  // The array position that an update's and projection's positional operator means, when `document`
  // matches and the match went through an array.
  std::optional<int64_t> MatchedPosition(bson::View document) const;
  // The same for a value as MatchesValue takes it.
  std::optional<int64_t> MatchedPositionOfValue(bson::Value value) const;

  // True for {}: no condition at all.
  bool IsTrivial() const;
  bson::View source() const;

  // The values that `path` must equal for a document to match ($eq, $in without regexes, nothing
  // nested in $or): for targeting and point reads. Nothing when the filter does not pin the path to
  // a finite set: equality with null or an array does not, and with a collation equality with
  // strings and objects does not. Views live as long as the filter.
  std::optional<std::vector<bson::Value>> PinnedValues(std::string_view path) const;
  // The equalities {path: value} that an upsert copies into its new document; paths may be dotted.
  std::vector<bson::Element> Equalities() const;
  // The first part of every path, when all have the same; empty otherwise.
  std::string_view CommonField() const;
  const MatchNode& root() const;

 private:
  explicit Filter(std::unique_ptr<const bson::Document> source);

  // On the heap: nodes point into its bytes, which must not move.
  std::unique_ptr<const bson::Document> source_;
  std::unique_ptr<MatchNode> root_;
};

}  // namespace evenkeel::query
