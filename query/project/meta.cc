// The projection operator $meta: the aggregation expression of the same name.
#include "query/project/table.h"

namespace evenkeel::query::project {
namespace {

absl::StatusOr<std::unique_ptr<FieldOperator>> ParseMeta(std::string_view, bson::Value,
                                                         const QueryContext&) {
  return nullptr;
}

constexpr ProjectOp kMetaOps[] = {
    {.name = "$meta",
     .parse = ParseMeta,
     .spec = "operator/aggregation/meta",
     .tests = "query/text"},
};

}  // namespace

std::span<const ProjectOp> MetaOps() { return kMetaOps; }

}  // namespace evenkeel::query::project
