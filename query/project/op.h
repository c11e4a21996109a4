// The operators that only find's projections have, one row each.
//
// A group file ends with its rows and hands them to table.cc; see table.h.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <span>
#include <string_view>

#include "base/bson/view.h"
#include "query/context.h"
#include "query/project/node.h"

namespace evenkeel::query::project {

struct ProjectOp {
  std::string_view name;
  // Makes the operator's field. A null result: the operand has the form of the aggregation
  // expression of the same name. Null function: known, not supported.
  absl::StatusOr<std::unique_ptr<FieldOperator>> (*parse)(std::string_view path,
                                                          bson::Value operand,
                                                          const QueryContext& context) = nullptr;
  bool includes = false;  // alone, it keeps no other field
  std::string_view spec;
  std::string_view tests;
};

}  // namespace evenkeel::query::project
