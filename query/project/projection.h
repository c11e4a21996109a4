// A compiled projection: find's `projection`, and $project, $addFields, $unset in pipelines.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "base/bson/builder.h"
#include "base/bson/document.h"
#include "query/context.h"
#include "query/match/filter.h"

namespace evenkeel::query {

enum class ProjectionKind : uint8_t { kFind, kProjectStage, kAddFields };

class Projection {
 public:
  class Impl;
  // Errors: MongoDB's, e.g. 31254 for mixing inclusion and exclusion.
  static absl::StatusOr<Projection> Parse(bson::View spec, ProjectionKind kind, const QueryContext& context);
  Projection(Projection&&) noexcept;
  Projection& operator=(Projection&&) noexcept;
  ~Projection();

  // `filter` is the query's, for the positional operator; may be null.
  absl::StatusOr<bson::Document> Apply(bson::View document, const Filter* filter = nullptr) const;
  // Top-level fields that the result depends on; empty optional: the whole document. For narrowing what shards send.
  std::optional<std::vector<std::string>> NeededFields() const;

 private:
  explicit Projection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evenkeel::query
