// Joins the groups of projection operators.
#include "query/project/table.h"

namespace evenkeel::query::project {

const ProjectOp* FindOperator(std::string_view name) {
  for (const auto& group : {ElemMatchOps(), MetaOps(), SliceOps()}) {
    for (const ProjectOp& row : group) {
      if (row.name == name) return &row;
    }
  }
  return nullptr;
}

}  // namespace evenkeel::query::project
