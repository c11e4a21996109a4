// Moving and joining of stages.
#include "query/stage/optimize.h"

#include <algorithm>

#include "base/bson/builder.h"
#include "base/check.h"
#include "query/match/filter.h"
#include "query/stage/table.h"

namespace evenkeel::query::stage {
namespace {

// Collects the paths that a filter looks at. False when they cannot be told.
bool CollectPaths(bson::View filter, std::vector<std::string>* paths) {
  for (const auto& [key, value] : filter) {
    if (!key.starts_with('$')) {
      paths->emplace_back(key);
      continue;
    }
    if (key == "$comment") continue;
    if (key != "$and" && key != "$or" && key != "$nor") return false;
    for (const bson::Element& branch : value.AsDocument()) {
      if (!CollectPaths(branch.value.AsDocument(), paths)) return false;
    }
  }
  return true;
}

// True when `match` gives the same in front of `before`.
bool MayPass(const Stage& match, const Stage& before) {
  std::vector<std::string> paths;
  if (CollectPaths(match.MatchFilter()->source(), &paths)) return before.MatchMayPass(paths);
  // Whatever it looks at: an order is no part of it.
  return before.op().order == Order::kSorts && before.MatchMayPass({});
}

// One $match for two neighbours.
std::unique_ptr<Stage> JoinMatches(const Stage& first, const Stage& second,
                                   const QueryContext& context) {
  bson::Builder both;
  both.OpenArray("$and");
  both.Append("0", first.MatchFilter()->source());
  both.Append("1", second.MatchFilter()->source());
  both.Close();
  const bson::Document spec = both.Finish();
  const StageOp* op = FindStage("$match");
  EVENKEEL_CHECK(op != nullptr);
  StageList joined;
  const absl::Status status =
      op->parse(*op, bson::Value(bson::Type::kObject, spec.view().data()), context, &joined);
  if (!status.ok()) return nullptr;  // deeper than filters may be
  return std::move(joined.front());
}

void MoveMatches(StageList& stages) {
  for (size_t i = 1; i < stages.size(); ++i) {
    if (stages[i]->MatchFilter() == nullptr) continue;
    for (size_t at = i; at > 0; --at) {
      if (stages[at - 1]->MatchFilter() != nullptr || !MayPass(*stages[at], *stages[at - 1])) break;
      std::swap(stages[at], stages[at - 1]);
    }
  }
}

void JoinNeighbours(StageList& stages, const QueryContext& context) {
  for (size_t i = 0; i + 1 < stages.size();) {
    const Filter* first = stages[i]->MatchFilter();
    const Filter* second = stages[i + 1]->MatchFilter();
    if (first == nullptr || second == nullptr) {
      ++i;
      continue;
    }
    std::unique_ptr<Stage> joined;
    if (second->IsTrivial()) {
      joined = std::move(stages[i]);
    } else if (first->IsTrivial()) {
      joined = std::move(stages[i + 1]);
    } else {
      joined = JoinMatches(*stages[i], *stages[i + 1], context);
    }
    if (joined == nullptr) {
      ++i;
      continue;
    }
    stages[i] = std::move(joined);
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace

std::optional<int64_t> RowsWanted(const StageList& stages, size_t from) {
  int64_t skipped = 0;
  for (size_t i = from; i < stages.size(); ++i) {
    int64_t sum = 0;
    if (const std::optional<int64_t> skip = stages[i]->SkipCount()) {
      if (__builtin_add_overflow(skipped, *skip, &skipped)) return std::nullopt;
    } else if (const std::optional<int64_t> limit = stages[i]->LimitCount()) {
      if (__builtin_add_overflow(skipped, *limit, &sum)) return std::nullopt;
      return sum;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void Optimize(StageList& stages, const QueryContext& context) {
  MoveMatches(stages);
  JoinNeighbours(stages, context);
  for (size_t i = 0; i < stages.size(); ++i) {
    if (const std::optional<int64_t> rows = RowsWanted(stages, i + 1)) stages[i]->LimitTo(*rows);
  }
}

}  // namespace evenkeel::query::stage
