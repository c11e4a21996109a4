// Parses a projection's specification into its tree.
#pragma once

#include <absl/status/statusor.h>

#include <memory>

#include "base/bson/view.h"
#include "query/context.h"
#include "query/project/node.h"
#include "query/project/projection.h"

namespace evenkeel::query::project {

struct Parsed {
  std::unique_ptr<Node> root;
  bool needs_filter = false;  // has the positional operator
};

// Errors: see Projection::Parse.
absl::StatusOr<Parsed> ParseProjection(bson::View spec, ProjectionKind kind,
                                       const QueryContext& context);

}  // namespace evenkeel::query::project
