// $meta: known, and refused as not supported.
#include "tests/unit/query/project/cases.h"

namespace evenkeel::query::project {
namespace {

TEST(Meta, IsNotSupported) {
  const ErrorCase cases[] = {{R"({"a": {"$meta": "textScore"}})", 115}};
  CheckErrors(ProjectionKind::kFind, cases);
}

}  // namespace
}  // namespace evenkeel::query::project
