// Parsing, dividing and building of pipelines. Rewrites are in query/stage/optimize.cc.
#include "query/stage/pipeline.h"

#include <algorithm>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "query/exec/measured.h"
#include "query/stage/colocation.h"
#include "query/stage/meta_links.h"
#include "query/stage/optimize.h"
#include "query/stage/stage.h"
#include "query/stage/table.h"

namespace evenkeel::query {
namespace {

constexpr size_t kStagesMax = 1000;  // MongoDB's documented limit

// Parses one element of the pipeline's array.
absl::Status ParseStage(bson::Value element, const QueryContext& context, bool internal, bool first,
                        stage::StageList* out) {
  if (!element.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kTypeMismatch,
                 "Each element of the 'pipeline' array must be an object");
  }
  if (element.AsDocument().CountFields() != 1) {
    return Error(Location(40323),
                 "A pipeline stage specification object must contain exactly one field.");
  }
  const auto [name, spec] = element.AsDocument().Front();
  const stage::StageOp* op = stage::FindStage(name);
  if (op == nullptr || (op->internal && !internal)) {
    return Error(Location(40324), "Unrecognized pipeline stage name: '{}'", name);
  }
  if (op->first_only && !first) {
    const bool fusion = name == "$rankFusion" || name == "$scoreFusion";
    if (fusion) return Error(Location(10170100), "{} must be the first stage", name);
    if (name == "$geoNear") return Error(Location(40603), "$geoNear must be the first stage");
    return Error(Location(40602), "{} is only valid as the first stage in a pipeline", name);
  }
  if (op->parse == nullptr) {
    return Error(ErrorCode::kCommandNotSupported, "the stage {} is not supported", name);
  }
  return op->parse(*op, spec, context, out);
}

// True when rows leave a stage with the value at the path that they came with.
bool KeepsKey(const Stage& stage, const std::string& key) {
  if (stage.MatchFilter() != nullptr || stage.MatchMayPass({key})) return true;
  if (stage.op().name != "$project") return false;
  const std::string_view first = std::string_view(key).substr(0, key.find('.'));
  const bson::Value kept = stage.spec().AsDocument()[first];
  if (kept.missing()) return first == "_id";
  return (kept.IsNumber() || kept.Is(bson::Type::kBool)) && bson::Truthy(kept);
}

void AddOnce(std::string_view name, std::vector<std::string>* names) {
  if (std::find(names->begin(), names->end(), name) == names->end()) names->emplace_back(name);
}

}  // namespace

Pipeline::Pipeline(const QueryContext& context) : context_(&context) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

absl::StatusOr<Pipeline> Pipeline::Parse(bson::View stages, const QueryContext& context) {
  EVENKEEL_ASSIGN_OR_RETURN(const std::optional<bson::Document> linked, stage::LinkMeta(stages));
  if (linked) stages = *linked;
  const bool internal = context.internal || linked.has_value();
  Pipeline pipeline(context);
  size_t count = 0;
  std::string_view last_only;
  for (const bson::Element& element : stages) {
    if (++count > kStagesMax) {
      return Error(Location(7749501), "Pipeline length must be no longer than {} stages",
                   kStagesMax);
    }
    if (!last_only.empty()) {
      return Error(Location(40601), "{} can only be the final stage in the pipeline", last_only);
    }
    EVENKEEL_RETURN_IF_ERROR(
        ParseStage(element.value, context, internal, count == 1, &pipeline.stages_));
    if (pipeline.stages_.back()->op().last_only) last_only = pipeline.stages_.back()->op().name;
  }
  return pipeline;
}

const std::vector<std::unique_ptr<Stage>>& Pipeline::stages() const { return stages_; }

bson::View Pipeline::LeadingMatch() const {
  const Filter* filter = LeadingFilter();
  return filter == nullptr ? bson::View() : filter->source();
}

const Filter* Pipeline::LeadingFilter() const {
  return stages_.empty() ? nullptr : stages_.front()->MatchFilter();
}

bool Pipeline::HasOwnSource() const {
  return !stages_.empty() && stages_.front()->op().source != stage::Source::kInput;
}

std::string_view Pipeline::FirstStageName() const {
  return stages_.empty() ? std::string_view() : stages_.front()->op().name;
}

bson::Value Pipeline::FirstStageSpec() const {
  return stages_.empty() ? bson::Value() : stages_.front()->spec();
}

bool Pipeline::Writes() const {
  for (const auto& stage : stages_) {
    if (stage->op().writes) return true;
  }
  return false;
}

bool Pipeline::NeedsRouter() const {
  for (const auto& stage : stages_) {
    if (stage->NeedsRouter()) return true;
  }
  return false;
}

bool Pipeline::IsRowByRow() const {
  return std::all_of(stages_.begin(), stages_.end(), [](const auto& stage) {
    return !stage->NeedsRouter() && stage->op().split == stage::Split::kEachShard &&
           stage->op().order == stage::Order::kKeeps;
  });
}

absl::Status SplitPipeline::SortById() {
  bson::Builder by;
  by.Append("_id", int32_t{1});
  EVENKEEL_ASSIGN_OR_RETURN(merge_sort, SortPattern::Parse(by.Finish()));
  merge_kind = MergeKind::kSorted;
  bson::Builder stages(shard_part.view());
  bson::ArrayAppender array(stages, shard_part.view().CountFields());
  stages.OpenDocument(array.NextKey()).OpenDocument("$_sortedStream");
  stages.Append("by", merge_sort.spec()).Close().Close();
  shard_part = stages.Finish();
  return absl::OkStatus();
}

std::string_view Pipeline::StageNotAllowedInTransaction() const {
  for (const auto& stage : stages_) {
    if (!stage->op().allowed_in_txn) return stage->op().name;
  }
  return {};
}

void Pipeline::Optimize() { stage::Optimize(stages_, *context_); }

std::vector<std::string> Pipeline::ForeignNamespaces() const {
  std::vector<std::string> namespaces;
  for (const auto& stage : stages_) {
    const std::string_view ns = stage->ForeignNamespace();
    if (!ns.empty() && stage->NeedsRouter()) AddOnce(ns, &namespaces);
  }
  return namespaces;
}

std::vector<std::string> Pipeline::JoinOnShards(const Colocation& colocation) {
  std::vector<std::string> joined;
  for (const auto& stage : stages_) {
    if (stage->NeedsRouter()) {
      if (!stage->JoinOnShards(colocation)) break;
      AddOnce(stage->ForeignNamespace(), &joined);
    }
    // The rows of one shard stay together to the end; those of several only as long as they come
    // one by one, with the key that they lie by.
    if (!colocation.key) continue;
    if (stage->op().split != stage::Split::kEachShard) break;
    if (!KeepsKey(*stage, *colocation.key)) break;
  }
  return joined;
}

SplitPipeline Pipeline::Split() const {
  SplitPipeline split;
  stage::StageWriter shard, merge;
  bool merging = false;
  for (size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = *stages_[i];
    const stage::StageOp& op = stage.op();
    if (merging) {
      stage.Write(merge);
    } else if (stage.NeedsRouter() || op.split == stage::Split::kMerger) {
      merging = true;
      stage.Write(merge);
    } else if (op.split == stage::Split::kEachShard) {
      stage.Write(shard);
    } else {
      merging = true;
      stage::Halves halves{.shard = &shard, .merge = &merge, .merge_sort = std::nullopt};
      stage.Divide(stage::RowsWanted(stages_, i + 1), &halves);
      const size_t counted_from = op.order == stage::Order::kSorts ? i + 1 : i;
      if (op.order != stage::Order::kBreaks) {
        split.limit_per_shard = stage::RowsWanted(stages_, counted_from);
      }
      if (halves.merge_sort) {
        split.merge_kind = MergeKind::kSorted;
        split.merge_sort = *std::move(halves.merge_sort);
      }
    }
  }
  split.shard_part = shard.Finish();
  split.merge_part = merge.Finish();
  return split;
}

absl::StatusOr<std::unique_ptr<Operator>> Pipeline::Build(std::unique_ptr<Operator> input,
                                                          const QueryContext& context,
                                                          bool without_leading_match,
                                                          StageTrace* trace) const {
  std::unique_ptr<Operator> last = std::move(input);
  for (const auto& stage : stages_) {
    const bool leading = stage == stages_.front();
    if (leading && without_leading_match && stage->MatchFilter() != nullptr) continue;
    EVENKEEL_ASSIGN_OR_RETURN(last, stage->Build(std::move(last), context));
    if (trace == nullptr) continue;
    auto measured = std::make_unique<MeasuredOperator>(std::move(last));
    trace->entries.push_back({stage.get(), measured.get()});
    last = std::move(measured);
  }
  return last;
}

bson::Document Pipeline::ToBson() const {
  stage::StageWriter writer;
  for (const auto& stage : stages_) stage->Write(writer);
  return writer.Finish();
}

}  // namespace evenkeel::query
