// $_rowMeta and $_sortMeta, which meta_links puts into pipelines that read metadata.
#include "query/exec/row_meta.h"
#include "base/bson/number.h"
#include "query/expr/meta.h"
#include "query/stage/groups.h"
#include "query/stage/meta_links.h"
#include "query/stage/rewrite/reads.h"
#include "query/stage/sort_spec.h"

namespace evenkeel::query::stage {
namespace {

// {recordId: true, indexKey: true}.
class RowMetaStage final : public Stage {
 public:
  RowMetaStage(const StageOp& op, bson::Value spec, RowMetaOperator::Wanted wanted)
      : Stage(op, spec), wanted_(wanted) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<RowMetaOperator>(std::move(input), context.source.get(), wanted_);
  }
  bool MatchMayPass(const std::vector<std::string>& paths) const override {
    return !AnyOverlap(paths, std::string(kRecordIdMetaField)) &&
           !AnyOverlap(paths, std::string(kIndexKeyMetaField));
  }

 private:
  const RowMetaOperator::Wanted wanted_;
};

// The pattern of the $sort before it.
class SortMetaStage final : public Stage {
 public:
  SortMetaStage(const StageOp& op, bson::Value spec, SortPattern pattern)
      : Stage(op, spec), pattern_(std::move(pattern)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<SortMetaOperator>(std::move(input), pattern_, context.collation);
  }
  bool MatchMayPass(const std::vector<std::string>& paths) const override {
    return !AnyOverlap(paths, std::string(kSortMetaField));
  }
  Reads AddReads(const QueryContext&, Dependencies* reads) const override {
    for (const SortField& field : pattern_.fields()) reads->paths.insert(field.path.dotted());
    return Reads::kSome;
  }

 private:
  const SortPattern pattern_;
};

absl::Status ParseRowMeta(const StageOp& op, bson::Value spec, const QueryContext&,
                          StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "{} must be an object", op.name);
  }
  const bson::View options = spec.AsDocument();
  return AddStage<RowMetaStage>(
      out, op, spec,
      RowMetaOperator::Wanted{.record_id = bson::Truthy(options["recordId"]),
                              .index_key = bson::Truthy(options["indexKey"])});
}

absl::Status ParseSortMeta(const StageOp& op, bson::Value spec, const QueryContext&,
                           StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "{} must be an object", op.name);
  }
  EVENKEEL_ASSIGN_OR_RETURN(SortPattern pattern, ParseSortSpec(spec.AsDocument()));
  return AddStage<SortMetaStage>(out, op, spec, std::move(pattern));
}

constexpr StageOp kRows[] = {
    {.name = kRowMetaStage,
     .where = Where::kShard,
     .internal = true,
     .parse = ParseRowMeta,
     .spec = "operator/aggregation/meta",
     .tests = "none"},
    {.name = kSortMetaStage,
     .internal = true,
     .parse = ParseSortMeta,
     .spec = "operator/aggregation/meta",
     .tests = "none"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> RowMetaStages() { return kRows; }

}  // namespace evenkeel::query::stage
