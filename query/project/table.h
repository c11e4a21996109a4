// The table of find's projection operators.
#pragma once

#include <span>
#include <string_view>

#include "query/project/op.h"

namespace evenkeel::query::project {

// One function per group file.
std::span<const ProjectOp> ElemMatchOps();
std::span<const ProjectOp> MetaOps();
std::span<const ProjectOp> SliceOps();

// The row of an operator, null for an unknown name.
const ProjectOp* FindOperator(std::string_view name);

// The operator that "array.$" stands for: of an array only the element that the query matched.
std::unique_ptr<FieldOperator> MakePositional();

}  // namespace evenkeel::query::project
