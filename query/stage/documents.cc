// $documents: the documents that an expression gives.
#include "query/exec/streaming.h"
#include "query/expr/kernel.h"
#include "query/stage/groups.h"

namespace evenkeel::query::stage {
namespace {

class DocumentsStage final : public Stage {
 public:
  DocumentsStage(const StageOp& op, bson::Value spec, std::vector<bson::Document> documents)
      : Stage(op, spec), documents_(std::move(documents)) {}

  absl::StatusOr<std::unique_ptr<Operator>> Build(std::unique_ptr<Operator>,
                                                  const QueryContext&) const override {
    return std::make_unique<DocumentsOperator>(documents_);
  }

 private:
  std::vector<bson::Document> documents_;
};

absl::Status ParseDocuments(const StageOp& op, bson::Value spec, const QueryContext& context,
                            StageList* out) {
  EVENKEEL_ASSIGN_OR_RETURN(const ExpressionPtr expression, Expression::Parse(spec, context));
  Evaluation evaluation(context);
  evaluation.Begin(bson::View());
  EVENKEEL_ASSIGN_OR_RETURN(const bson::Value array, expression->Evaluate(evaluation));
  if (!array.Is(bson::Type::kArray)) {
    return Error(Location(5858203), "$documents needs an array, found {}",
                 expr::TypeName(array.type()));
  }
  std::vector<bson::Document> documents;
  for (const bson::Element& element : array.AsDocument()) {
    if (!element.value.Is(bson::Type::kObject)) {
      return Error(Location(40228), "$documents needs objects, found {}",
                   expr::TypeName(element.value.type()));
    }
    documents.emplace_back(element.value.AsDocument());
  }
  return AddStage<DocumentsStage>(out, op, spec, std::move(documents));
}

constexpr StageOp kRows[] = {
    {.name = "$documents",
     .where = Where::kRouter,
     .first_only = true,
     .allowed_in_facet = false,
     .source = Source::kOwn,
     .split = Split::kMerger,
     .parse = ParseDocuments,
     .spec = "operator/aggregation/documents",
     .tests = "stages/documents"},
};
static_assert(RowsAreGood(kRows));

}  // namespace

std::span<const StageOp> DocumentsStages() { return kRows; }

}  // namespace evenkeel::query::stage
