// $match towards the front, whole or in parts, and neighbours into one.
#include <algorithm>
#include <vector>

#include "base/bson/builder.h"
#include "query/match/filter.h"
#include "query/stage/rewrite/reads.h"
#include "query/stage/rewrite/rules.h"

namespace evenkeel::query::stage {
namespace {

// The conditions that a filter joins by "and".
void AddConditions(bson::View filter, std::vector<bson::Document>* conditions) {
  for (const bson::Element& field : filter) {
    if (field.key == "$and") {
      for (const bson::Element& branch : field.value.AsDocument()) {
        AddConditions(branch.value.AsDocument(), conditions);
      }
      continue;
    }
    bson::Builder condition;
    condition.Append(field.key, field.value);
    conditions->push_back(condition.Finish());
  }
}

// The conditions as one filter again.
bson::Document JoinConditions(const std::vector<bson::Document>& conditions) {
  if (conditions.size() == 1) return conditions.front();
  bson::Builder filter;
  filter.OpenArray("$and");
  bson::ArrayAppender branches(filter);
  for (const bson::Document& condition : conditions) branches.Add(condition);
  filter.Close();
  return filter.Finish();
}

// True when a filter gives the same in front of `before`.
bool MayPass(bson::View filter, const Stage& before, const QueryContext& context) {
  if (const auto paths = FilterPaths(filter, context)) return before.MatchMayPass(*paths);
  // Whatever it looks at: an order is no part of it.
  return before.op().order == Order::kSorts && before.MatchMayPass({});
}

// Puts the conditions of the $match at `at` that may pass the stage before it in front of that.
// False when there are none, or all may.
bool SplitMatch(StageList& stages, size_t at, const QueryContext& context) {
  std::vector<bson::Document> all, passing, staying;
  AddConditions(stages[at]->MatchFilter()->source(), &all);
  for (bson::Document& condition : all) {
    const bool passes = MayPass(condition, *stages[at - 1], context);
    (passes ? passing : staying).push_back(std::move(condition));
  }
  if (passing.empty() || staying.empty()) return false;
  std::unique_ptr<Stage> first = MakeStage("$match", JoinConditions(passing), context);
  std::unique_ptr<Stage> rest = MakeStage("$match", JoinConditions(staying), context);
  if (first == nullptr || rest == nullptr) return false;
  stages[at] = std::move(rest);
  stages.insert(stages.begin() + static_cast<std::ptrdiff_t>(at) - 1, std::move(first));
  return true;
}

// Moves the $match at `at` as far as it goes. Returns how many stages were added behind it.
size_t MoveMatch(StageList& stages, size_t at, const QueryContext& context) {
  size_t added = 0;
  for (; at > 0 && stages[at - 1]->MatchFilter() == nullptr; --at) {
    if (MayPass(stages[at]->MatchFilter()->source(), *stages[at - 1], context)) {
      std::swap(stages[at], stages[at - 1]);
    } else if (SplitMatch(stages, at, context)) {
      ++added;
    } else {
      break;
    }
  }
  return added;
}

// One $match for two neighbours; null when the filter would be too deep.
std::unique_ptr<Stage> Joined(std::unique_ptr<Stage>& first, std::unique_ptr<Stage>& second,
                              const QueryContext& context) {
  if (second->MatchFilter()->IsTrivial()) return std::move(first);
  if (first->MatchFilter()->IsTrivial()) return std::move(second);
  bson::Builder both;
  both.OpenArray("$and");
  both.Append("0", first->MatchFilter()->source());
  both.Append("1", second->MatchFilter()->source());
  both.Close();
  return MakeStage("$match", both.Finish(), context);
}

}  // namespace

void MoveMatches(StageList& stages, const QueryContext& context) {
  for (size_t i = 1; i < stages.size(); ++i) {
    if (stages[i]->MatchFilter() != nullptr) i += MoveMatch(stages, i, context);
  }
}

void JoinMatches(StageList& stages, const QueryContext& context) {
  for (size_t i = 0; i + 1 < stages.size();) {
    std::unique_ptr<Stage> joined;
    if (stages[i]->MatchFilter() != nullptr && stages[i + 1]->MatchFilter() != nullptr) {
      joined = Joined(stages[i], stages[i + 1], context);
    }
    if (joined == nullptr) {
      ++i;
      continue;
    }
    stages[i] = std::move(joined);
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace evenkeel::query::stage
