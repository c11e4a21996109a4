// Renders a plan as explain's winningPlan.
#include <algorithm>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/sort_keys.h"
#include "base/bson/text.h"
#include "query/plan/planner.h"

namespace evenkeel::query {
namespace {

// A value of an index; sort keys are no text.
std::string KeyText(bson::Value key, bool collated) {
  if (!collated || !bson::HasCollatedOrder(key)) return bson::ToDisplay(key);
  return "CollationKey(0x" +
         bson::HexText(key.Is(bson::Type::kString) ? key.AsString() : key.Bytes()) + ")";
}

// "[1, 5)", "[MinKey, MaxKey]".
std::string IntervalText(const Interval& interval, bool collated = false) {
  const bson::Value low = interval.low.value(), high = interval.high.value();
  std::string text = interval.low_inclusive ? "[" : "(";
  text += low.missing() ? "MinKey" : KeyText(low, collated);
  text += ", ";
  text += high.missing() ? "MaxKey" : KeyText(high, collated);
  text += interval.high_inclusive ? "]" : ")";
  return text;
}

void AppendBounds(const Plan& plan, bson::Builder& out) {
  out.OpenDocument("indexBounds");
  const IntervalList all = AllValues();
  for (size_t i = 0; i < plan.index->fields.size(); ++i) {
    const IntervalList& list = i < plan.bounds.size() ? plan.bounds[i] : all;
    const bool backwards = plan.reverse == plan.index->fields[i].ascending;
    out.OpenArray(plan.index->fields[i].path.dotted());
    bson::ArrayAppender intervals(out);
    for (size_t j = 0; j < list.size(); ++j) {
      intervals.Add(IntervalText(list[backwards ? list.size() - 1 - j : j],
                                 plan.index->collation != nullptr));
    }
    out.Close();
  }
  out.Close();
}

void AppendIndexScan(const Plan& plan, bson::Builder& out) {
  const IndexDescription& index = *plan.index;
  out.Append("stage", "IXSCAN").OpenDocument("keyPattern");
  for (size_t i = 0; i < index.fields.size(); ++i) {
    const std::string& path = index.fields[i].path.dotted();
    if (index.hashed[i]) {
      out.Append(path, "hashed");
    } else {
      out.Append(path, index.fields[i].ascending ? 1 : -1);
    }
  }
  out.Close();
  out.Append("indexName", index.name)
      .Append("isMultiKey", index.multikey)
      .Append("isUnique", index.unique)
      .Append("isSparse", index.sparse)
      .Append("isPartial", index.partial != nullptr)
      .Append("indexVersion", 2)
      .Append("direction", plan.reverse ? "backward" : "forward");
  AppendBounds(plan, out);
}

void AppendIds(const Plan& plan, const PlanRequest& request, bson::Builder& out) {
  if (plan.ids.size() == 1 && plan.exact) {
    out.Append("stage", "IDHACK");
    return;
  }
  out.Append("stage", "FETCH");
  if (!plan.exact && request.filter) out.AppendDocument("filter", request.filter->source());
  out.OpenDocument("inputStage").Append("stage", "IXSCAN");
  out.OpenDocument("keyPattern").Append("_id", 1).Close();
  out.Append("indexName", "_id_").Append("isMultiKey", false).Append("isUnique", true);
  out.Append("direction", plan.reverse ? "backward" : "forward");
  out.OpenDocument("indexBounds").OpenArray("_id");
  bson::ArrayAppender points(out);
  for (const bson::OwnedValue& id : plan.ids) points.Add(IntervalText({id, id}));
  out.Close().Close().Close();
}

void AppendAccess(const Plan& plan, const PlanRequest& request, bson::Builder& out) {
  switch (plan.kind) {
    case PlanKind::kNothing:
      out.Append("stage", "EOF");
      return;
    case PlanKind::kById:
      AppendIds(plan, request, out);
      return;
    case PlanKind::kIndexScan:
      out.Append("stage", "FETCH");
      if (!plan.exact && request.filter) out.AppendDocument("filter", request.filter->source());
      out.OpenDocument("inputStage");
      AppendIndexScan(plan, out);
      out.Close();
      return;
    case PlanKind::kCollectionScan:
      out.Append("stage", "COLLSCAN");
      if (request.filter && !request.filter->IsTrivial()) {
        out.AppendDocument("filter", request.filter->source());
      }
      out.Append("direction", plan.reverse ? "backward" : "forward");
      return;
  }
}

}  // namespace

bson::Document ExplainPlan(const Plan& plan, const PlanRequest& request) {
  bson::Builder out;
  const bool sorts = request.sort && !request.sort->empty() && !plan.sorted;
  if (!sorts) {
    AppendAccess(plan, request, out);
    return out.Finish();
  }
  out.Append("stage", "SORT").AppendDocument("sortPattern", request.sort->spec());
  out.Append("type", "simple").OpenDocument("inputStage");
  AppendAccess(plan, request, out);
  out.Close();
  return out.Finish();
}

}  // namespace evenkeel::query
