// Only the fields that a later stage reads are worth keeping, sending and copying.
#include <optional>
#include <vector>

#include "base/bson/builder.h"
#include "query/expr/expression.h"
#include "query/stage/optimize.h"
#include "query/stage/rewrite/rules.h"

namespace evenkeel::query::stage {
namespace {

// What the stages from some index on need of their rows: the fields, and the index of the stage
// behind which nothing else of them exists.
struct Needs {
  std::vector<std::string> fields;
  size_t end = 0;
};

std::optional<Needs> NeedsFrom(const StageList& stages, size_t from, const QueryContext& context) {
  Dependencies reads;
  for (size_t i = from; i < stages.size(); ++i) {
    const Reads kind = stages[i]->AddReads(context, &reads);
    if (kind == Reads::kAll) return std::nullopt;
    if (kind != Reads::kOnly) continue;
    auto fields = reads.TopLevelFields();
    if (!fields) return std::nullopt;
    return Needs{*std::move(fields), i};
  }
  return std::nullopt;  // whole rows come out
}

// True when the stage keeps rows, sends them to the merger, or copies them.
bool RowsCost(const StageList& stages, size_t at) {
  const Stage& stage = *stages[at];
  if (stage.Unwinds() != nullptr || stage.NeedsRouter()) return true;
  // A short list of first rows costs nothing; narrowing all rows for it would.
  if (stage.op().order == Order::kSorts) return !RowsWanted(stages, at + 1);
  return stage.op().split == Split::kMerger;
}

std::unique_ptr<Stage> ProjectOf(const std::vector<std::string>& fields,
                                 const QueryContext& context) {
  bson::Builder spec;
  bool with_id = fields.empty();  // something must stay
  for (const std::string& field : fields) {
    if (field.empty() || field.front() == '$') return nullptr;
    with_id = with_id || field == "_id";
    if (field != "_id") spec.Append(field, true);
  }
  spec.Append("_id", with_id);
  return MakeStage("$project", spec.Finish(), context);
}

}  // namespace

void NarrowRows(StageList& stages, const QueryContext& context) {
  // Partial results of shards are narrow already.
  if (context.is_merge_part || stages.empty()) return;
  const size_t from = stages.front()->MatchFilter() != nullptr ? 1 : 0;
  if (from < stages.size() && stages[from]->op().source != Source::kInput) return;
  const std::optional<Needs> needs = NeedsFrom(stages, from, context);
  if (!needs) return;
  for (size_t i = from; i < needs->end; ++i) {
    if (!RowsCost(stages, i)) continue;
    std::unique_ptr<Stage> project = ProjectOf(needs->fields, context);
    if (project == nullptr) return;
    stages.insert(stages.begin() + static_cast<std::ptrdiff_t>(from), std::move(project));
    return;
  }
}

}  // namespace evenkeel::query::stage
