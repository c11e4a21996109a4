// A $sort that serves only to tell a $group's first and last rows is no sort: $top and $bottom keep
// what they need of each group, on every shard.
#include <array>
#include <optional>

#include "base/bson/builder.h"
#include "query/accum/table.h"
#include "query/stage/rewrite/rules.h"

namespace evenkeel::query::stage {
namespace {

// An accumulator that depends on the order, and the one that brings an order of its own.
struct Pair {
  std::string_view by_input_order, by_own_order;
  bool many;  // {n, input}
};
constexpr std::array<Pair, 4> kPairs = {{{"$first", "$top", false},
                                         {"$last", "$bottom", false},
                                         {"$firstN", "$topN", true},
                                         {"$lastN", "$bottomN", true}}};

const Pair* FindPair(std::string_view name) {
  for (const Pair& pair : kPairs) {
    if (pair.by_input_order == name) return &pair;
  }
  return nullptr;
}

// Appends {field: {$top: …}} in place of {field: {$first: …}}.
void AppendPair(bson::Builder& out, std::string_view field, const Pair& pair, bson::Value args,
                bson::View order) {
  out.OpenDocument(field).OpenDocument(pair.by_own_order).Append("sortBy", order);
  if (pair.many) {
    out.Append("output", args.AsDocument()["input"]).Append("n", args.AsDocument()["n"]);
  } else {
    out.Append("output", args);
  }
  out.Close().Close();
}

// The specification of a $group over unsorted rows; nothing when it needs the order, or does not
// look at it.
std::optional<bson::Document> WithOwnOrder(bson::View group, bson::View order) {
  bson::Builder out;
  bool any = false;
  for (const auto& [field, value] : group) {
    if (field == "_id") {
      out.Append(field, value);
      continue;
    }
    const bson::Element accumulator = value.AsDocument().Front();
    if (const Pair* pair = FindPair(accumulator.key)) {
      AppendPair(out, field, *pair, accumulator.value, order);
      any = true;
      continue;
    }
    const accum::AccumOp* op = accum::FindAccumulator(accumulator.key);
    if (op == nullptr || op->ordered) return std::nullopt;
    out.Append(field, value);
  }
  if (!any) return std::nullopt;
  return out.Finish();
}

}  // namespace

void SortInGroups(StageList& stages, const QueryContext& context) {
  for (size_t i = 0; i + 1 < stages.size(); ++i) {
    const SortPattern* order = stages[i]->SortOrder();
    if (order == nullptr || stages[i + 1]->op().name != "$group") continue;
    const auto spec = WithOwnOrder(stages[i + 1]->spec().AsDocument(), order->spec());
    if (!spec) continue;
    std::unique_ptr<Stage> group = MakeStage("$group", *spec, context);
    if (group == nullptr) continue;
    stages[i] = std::move(group);
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace evenkeel::query::stage
