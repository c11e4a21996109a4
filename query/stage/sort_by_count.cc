// $sortByCount: short for a $group that counts and a $sort by the count.
#include "base/bson/builder.h"
#include "base/check.h"
#include "query/stage/groups.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

absl::Status AddNamed(std::string_view name, const bson::Document& spec,
                      const QueryContext& context, StageList* out) {
  const StageOp* op = FindStage(name);
  EVENKEEL_CHECK(op != nullptr);
  return op->parse(*op, bson::Value(bson::Type::kObject, spec.view().data()), context, out);
}

absl::Status ParseSortByCount(const StageOp&, bson::Value spec, const QueryContext& context,
                              StageList* out) {
  if (spec.Is(bson::Type::kObject)) {
    if (!spec.AsDocument().Front().key.starts_with('$')) {
      return Error(Location(40147),
                   "the sortByCount field must be defined as a $-prefixed path or "
                   "an expression inside an object");
    }
  } else if (!spec.Is(bson::Type::kString)) {
    return Error(Location(40149),
                 "the sortByCount field must be specified as a string or as an "
                 "object");
  } else if (!spec.AsString().starts_with('$')) {
    return Error(Location(40148),
                 "the sortByCount field must be defined as a $-prefixed path or an expression");
  }
  bson::Builder group;
  group.Append("_id", spec);
  group.OpenDocument("count").Append("$sum", 1).Close();
  EVENKEEL_RETURN_IF_ERROR(AddNamed("$group", group.Finish(), context, out));
  bson::Builder sort;
  sort.Append("count", -1);
  return AddNamed("$sort", sort.Finish(), context, out);
}

constexpr StageOp kRows[] = {
    {.name = "$sortByCount",
     .order = Order::kSorts,
     .bounded_memory = false,
     .split = Split::kHalves,
     .parse = ParseSortByCount,
     .spec = "operator/aggregation/sortByCount",
     .tests = "stages/sortByCount"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> SortByCountStages() { return kRows; }

}  // namespace evenkeel::query::stage
