// $meta goes with inclusion and exclusion; no metadata are kept.
#include "tests/unit/query/project/cases.h"

namespace evenkeel::query::project {
namespace {

constexpr std::string_view kDocument = R"({"_id": 1, "a": 2, "b": 3})";

TEST(Meta, GoesWithBothKinds) {
  const Case find[] = {
      {R"({"m": {"$meta": "recordId"}})", kDocument, kDocument},
      {R"({"a": 0, "m": {"$meta": "recordId"}})", kDocument, R"({"_id": 1, "b": 3})"},
      {R"({"m": {"$meta": "recordId"}, "a": 0})", kDocument, R"({"_id": 1, "b": 3})"},
      {R"({"a": 1, "m": {"$meta": "recordId"}})", kDocument, R"({"_id": 1, "a": 2})"},
  };
  CheckCases(ProjectionKind::kFind, find);
  const Case stage[] = {
      {R"({"m": {"$meta": "recordId"}})", kDocument, R"({"_id": 1})"},
      {R"({"a": 0, "m": {"$meta": "recordId"}})", kDocument, R"({"_id": 1, "b": 3})"},
      {R"({"m": {"$meta": "recordId"}, "a": 0})", kDocument, R"({"_id": 1, "b": 3})"},
      {R"({"a": 1, "m": {"$meta": "recordId"}})", kDocument, R"({"_id": 1, "a": 2})"},
  };
  CheckCases(ProjectionKind::kProjectStage, stage);
}

TEST(Meta, Errors) {
  const ErrorCase cases[] = {
      {R"({"a": {"$meta": "nope"}})", 17308},
      {R"({"a": {"$meta": 1}})", 17307},
  };
  CheckErrors(ProjectionKind::kFind, cases);
}

}  // namespace
}  // namespace evenkeel::query::project
