// The projection operator $meta: known, not supported yet.
#include "query/project/table.h"

namespace evenkeel::query::project {
namespace {

constexpr ProjectOp kMetaOps[] = {
    {.name = "$meta", .spec = "operator/aggregation/meta", .tests = "query/text"},
};

}  // namespace

std::span<const ProjectOp> MetaOps() { return kMetaOps; }

}  // namespace evenkeel::query::project
