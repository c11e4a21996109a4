// A $sort that serves only to tell a $group's first and last rows is no sort: $top and $bottom keep
// what they need of each group, on every shard. The groups are sorted instead, which are fewer,
// since they would have come in the order of their first rows.
#include <array>
#include <iterator>
#include <optional>
#include <string>

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

// The values of a group's first row that the rows were to be sorted by, {k0: …, k1: …}; no client's
// field has this name.
constexpr std::string_view kOrderField = "\x01order";

std::string KeyName(size_t i) { return "k" + std::to_string(i); }

void AppendOrder(bson::Builder& out, bson::View order) {
  out.OpenDocument(kOrderField).OpenDocument("$top").Append("sortBy", order).OpenDocument("output");
  size_t i = 0;
  for (const bson::Element& field : order) {
    out.Append(KeyName(i++), std::string("$").append(field.key));
  }
  out.Close().Close().Close();
}

// The specification of a $group over unsorted rows; nothing when it needs the order, or does not
// look at it. `keep_order`: with the field kOrderField.
std::optional<bson::Document> WithOwnOrder(bson::View group, bson::View order, bool keep_order) {
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
  if (keep_order) AppendOrder(out, order);
  return out.Finish();
}

// True when the order of the groups is of no matter to the stage behind them.
bool BringsOrder(const StageList& stages, size_t at) {
  return at < stages.size() && stages[at]->op().order != Order::kKeeps;
}

// {$sort: the groups' order} and {$unset: it}.
StageList OrderOfGroups(bson::View order, const QueryContext& context) {
  bson::Builder sort;
  size_t i = 0;
  for (const bson::Element& field : order) {
    sort.Append(std::string(kOrderField).append(".").append(KeyName(i++)), field.value);
  }
  bson::Builder hide;
  hide.Append(kOrderField, int32_t{0});
  StageList stages;
  stages.push_back(MakeStage("$sort", sort.Finish(), context));
  stages.push_back(MakeStage("$project", hide.Finish(), context));
  return stages;
}

}  // namespace

void SortInGroups(StageList& stages, const QueryContext& context) {
  for (size_t i = 0; i + 1 < stages.size(); ++i) {
    const SortPattern* order = stages[i]->SortOrder();
    if (order == nullptr || stages[i + 1]->op().name != "$group") continue;
    const bson::Document by(order->spec());
    const bool keep_order = !BringsOrder(stages, i + 2);
    const auto spec = WithOwnOrder(stages[i + 1]->spec().AsDocument(), by, keep_order);
    if (!spec) continue;
    std::unique_ptr<Stage> group = MakeStage("$group", *spec, context);
    if (group == nullptr) continue;
    stages[i] = std::move(group);
    const auto behind = stages.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto next = stages.erase(behind);
    if (!keep_order) continue;
    StageList ordering = OrderOfGroups(by, context);
    stages.insert(next, std::make_move_iterator(ordering.begin()),
                  std::make_move_iterator(ordering.end()));
  }
}

}  // namespace evenkeel::query::stage
