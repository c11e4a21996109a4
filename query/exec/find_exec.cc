// Chains of operators for find.
#include "query/exec/find_exec.h"

#include "base/status.h"
#include "query/exec/carry.h"
#include "query/exec/sort.h"
#include "query/exec/sort_key.h"
#include "query/exec/sorted_merge.h"
#include "query/exec/streaming.h"
#include "query/expr/meta.h"

namespace evenkeel::query {

absl::StatusOr<std::unique_ptr<FindPipeline>> FindPipeline::Parse(const FindRequest& request,
                                                                  const QueryContext& context) {
  std::unique_ptr<FindPipeline> find(new FindPipeline(context));
  if (!request.sort.empty()) {
    EVENKEEL_ASSIGN_OR_RETURN(find->sort_, SortPattern::Parse(request.sort));
  }
  if (!request.projection.empty()) {
    EVENKEEL_ASSIGN_OR_RETURN(
        find->projection_, Projection::Parse(request.projection, ProjectionKind::kFind, context));
  }
  const auto reads = [&](std::string_view kind) {
    return ReadsMeta(bson::Value(bson::Type::kObject, request.projection.data()), kind);
  };
  if (find->projection_ && !request.return_key) {
    find->row_meta_ = {.record_id = reads("recordId"), .index_key = reads("indexKey")};
    find->sort_meta_ = reads("sortKey");
    if (find->sort_meta_ && request.sort.empty()) {
      return Error(ErrorCode::kBadValue, "{{$meta: \"sortKey\"}} in a projection needs a sort");
    }
  }
  if (request.return_key) find->projection_.reset();
  find->show_record_id_ = request.show_record_id;
  find->skip_ = request.skip;
  if (request.limit && *request.limit != 0) find->limit_ = *request.limit;
  return find;
}

std::optional<int64_t> FindPipeline::limit_per_shard() const {
  int64_t sum = 0;
  if (!limit_ || __builtin_add_overflow(skip_, *limit_, &sum)) return std::nullopt;
  return sum;
}

std::unique_ptr<Operator> FindPipeline::Project(std::unique_ptr<Operator> input,
                                                const Filter* filter, bool keep_sort_key) const {
  if (!projection_) return input;
  std::unique_ptr<Operator> chain = std::move(input);
  if (row_meta_.any()) {
    chain = std::make_unique<RowMetaOperator>(std::move(chain), context_.source.get(), row_meta_);
  }
  if (sort_meta_) {
    chain = std::make_unique<SortMetaOperator>(std::move(chain), sort_, context_.collation);
  }
  chain = ProjectFields(std::move(chain), filter, keep_sort_key);
  if (row_meta_.any() || sort_meta_) chain = std::make_unique<DropMetaOperator>(std::move(chain));
  return chain;
}

std::unique_ptr<Operator> FindPipeline::ProjectFields(std::unique_ptr<Operator> input,
                                                      const Filter* filter,
                                                      bool keep_sort_key) const {
  if (show_record_id_) {
    std::vector<std::string_view> carried = {kRecordIdField};
    if (keep_sort_key) carried.push_back(kSortKeyField);
    return std::make_unique<CarryingProjectOperator>(std::move(input), *projection_, filter,
                                                     std::move(carried));
  }
  return std::make_unique<ProjectOperator>(std::move(input), *projection_, filter, keep_sort_key);
}

std::unique_ptr<Operator> FindPipeline::Whole(std::unique_ptr<Operator> input, const Filter* filter,
                                              bool sorted) const {
  std::unique_ptr<Operator> chain = std::move(input);
  if (!sort_.empty() && !sorted) {
    chain = std::make_unique<SortOperator>(std::move(chain), sort_,
                                           SortOptions{.limit = limit_per_shard()}, context_);
  }
  if (skip_ > 0) chain = std::make_unique<SkipOperator>(std::move(chain), skip_);
  if (limit_) chain = std::make_unique<LimitOperator>(std::move(chain), *limit_);
  return Project(std::move(chain), filter, false);
}

std::unique_ptr<Operator> FindPipeline::ShardPart(std::unique_ptr<Operator> input,
                                                  const Filter* filter, bool sorted) const {
  std::unique_ptr<Operator> chain = std::move(input);
  const std::optional<int64_t> limit = limit_per_shard();
  if (!sort_.empty() && !sorted) {
    chain = std::make_unique<SortOperator>(
        std::move(chain), sort_, SortOptions{.limit = limit, .emit_sort_key = true}, context_);
  } else {
    if (limit) chain = std::make_unique<LimitOperator>(std::move(chain), *limit);
    if (!sort_.empty()) {
      chain = std::make_unique<SortKeyOperator>(std::move(chain), sort_, context_.collation);
    }
  }
  return Project(std::move(chain), filter, !sort_.empty());
}

std::unique_ptr<Operator> FindPipeline::MergePart(std::vector<Operator*> inputs) const {
  std::unique_ptr<Operator> chain;
  if (sort_.empty()) {
    chain = std::make_unique<UnorderedMerge>(std::move(inputs));
  } else {
    chain = std::make_unique<SortedMerge>(std::move(inputs), sort_, context_.collation);
  }
  if (skip_ > 0) chain = std::make_unique<SkipOperator>(std::move(chain), skip_);
  if (limit_) chain = std::make_unique<LimitOperator>(std::move(chain), *limit_);
  return chain;
}

}  // namespace evenkeel::query
