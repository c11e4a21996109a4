// A compiled projection: find's `projection`, and $project, $addFields, $unset in pipelines.
//
// Included fields keep the document's order, computed ones follow in the order of the
// specification; what $addFields replaces stays in its place. One thread at a time. Source:
// "Project Fields to Return from Query", "$project", "$addFields" in the MongoDB manual.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/document.h"
#include "query/context.h"
#include "query/match/filter.h"

namespace evenkeel::query {

enum class ProjectionKind : uint8_t { kFind, kProjectStage, kAddFields };

class Projection {
 public:
  class Impl;
  // Compiles `spec`, which is copied; an empty one keeps documents as they are. `context` outlives
  // the projection. Errors: 31253, 31254 for mixing inclusion and exclusion, 31252, 31310 for
  // computing in an exclusion, 31249, 31250 (40176 for $addFields) for paths that collide, 40352,
  // 40353, 15998, 16410 for bad paths, the expressions' own.
  static absl::StatusOr<Projection> Parse(bson::View spec, ProjectionKind kind,
                                          const QueryContext& context);
  Projection(Projection&&) noexcept;
  Projection& operator=(Projection&&) noexcept;
  ~Projection();

  // `filter` is the query's, for the positional operator; may be null. Errors: those of
  // expressions, 51246 when the positional operator finds no match.
  absl::StatusOr<bson::Document> Apply(bson::View document, const Filter* filter = nullptr) const;
  // Top-level fields that the result depends on; nothing: the whole document. For narrowing what
  // shards send.
  std::optional<std::vector<std::string>> NeededFields() const;
  // True when the projection needs the query's filter ("array.$").
  bool NeedsFilter() const;

 private:
  explicit Projection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evenkeel::query
