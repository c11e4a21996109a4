// $sort, and the form in which a shard sends sorted rows with their keys.
#include "query/exec/sort.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "query/expr/expression.h"
#include "query/stage/groups.h"
#include "query/stage/sort_spec.h"

namespace evenkeel::query::stage {
namespace {

constexpr std::string_view kStreamName = "$_sortedStream";

class SortStage final : public Stage {
 public:
  SortStage(const StageOp& op, bson::Value spec, SortPattern pattern, SortOptions options)
      : Stage(op, spec), pattern_(std::move(pattern)), options_(options) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator> input,
                                                  const QueryContext& context) const override {
    return std::make_unique<SortOperator>(std::move(input), pattern_, options_, context);
  }
  void Divide(std::optional<int64_t> rows_wanted, Halves* halves) const override {
    bson::Builder stream;
    stream.Append("by", spec());
    if (rows_wanted) stream.Append("limit", *rows_wanted);
    const bson::Document document = stream.Finish();
    halves->shard->Add(kStreamName, bson::Value(bson::Type::kObject, document.view().data()));
    halves->merge_sort = pattern_;
  }
  void LimitTo(int64_t count) override { options_.limit = count; }
  bool MatchMayPass(const std::vector<std::string>&) const override {
    return !options_.limit.has_value();
  }
  Reads AddReads(const QueryContext&, Dependencies* reads) const override {
    for (const SortField& field : pattern_.fields()) reads->paths.insert(field.path.dotted());
    return Reads::kSome;
  }
  const SortPattern* SortOrder() const override {
    return options_.limit || options_.emit_sort_key ? nullptr : &pattern_;
  }

 private:
  SortPattern pattern_;
  SortOptions options_;
};

absl::StatusOr<SortPattern> ParsePattern(bson::Value spec) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(Location(15973), "the $sort key specification must be an object");
  }
  if (spec.AsDocument().empty()) {
    return Error(Location(15976), "$sort stage must have at least one sort key");
  }
  return ParseSortSpec(spec.AsDocument());
}

absl::Status ParseSort(const StageOp& op, bson::Value spec, const QueryContext&, StageList* out) {
  EVENKEEL_ASSIGN_OR_RETURN(SortPattern pattern, ParsePattern(spec));
  return AddStage<SortStage>(out, op, spec, std::move(pattern), SortOptions{});
}

// {by: pattern, limit: n}.
absl::Status ParseSortedStream(const StageOp& op, bson::Value spec, const QueryContext&,
                               StageList* out) {
  if (!spec.Is(bson::Type::kObject)) {
    return Error(ErrorCode::kFailedToParse, "{} must be an object", op.name);
  }
  EVENKEEL_ASSIGN_OR_RETURN(SortPattern pattern, ParsePattern(spec.AsDocument()["by"]));
  SortOptions options{.limit = std::nullopt, .emit_sort_key = true};
  if (const bson::Value limit = spec.AsDocument()["limit"]; limit.IsNumber()) {
    options.limit = bson::ToInt64Truncated(limit);
  }
  return AddStage<SortStage>(out, op, spec, std::move(pattern), options);
}

constexpr StageOp kRows[] = {
    {.name = kStreamName,
     .where = Where::kShard,
     .order = Order::kSorts,
     .bounded_memory = false,
     .internal = true,
     .parse = ParseSortedStream,
     .spec = "operator/aggregation/sort",
     .tests = "stages/sort"},
    {.name = "$sort",
     .order = Order::kSorts,
     .bounded_memory = false,
     .split = Split::kHalves,
     .parse = ParseSort,
     .spec = "operator/aggregation/sort",
     .tests = "stages/sort"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> SortStages() { return kRows; }

}  // namespace evenkeel::query::stage
