// insert: documents are completed and checked here, then go to the shards of their keys.
#include <deque>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/validate.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/request/insert_request.h"
#include "router/router.h"
#include "router/write/batch_writer.h"
#include "router/write/document.h"
#include "router/write/write.h"

namespace evenkeel::router::write {
namespace {

// What the statements point into: the client's message and the documents that were made anew.
struct Prepared {
  std::shared_ptr<const void> client;
  std::deque<bson::Document> made;
};

class InsertWriter final : public BatchWriter {
 public:
  // `checks` has one status per document: one that is bad never leaves the router.
  InsertWriter(CommandContext& context, Batch batch, std::vector<absl::Status> checks)
      : BatchWriter(context, std::move(batch)), checks_(std::move(checks)) {}

 protected:
  absl::StatusOr<Placement> Place(const catalog::Route& route, size_t index) override {
    EVENKEEL_RETURN_IF_ERROR(checks_[index]);
    EVENKEEL_ASSIGN_OR_RETURN(const ShardId shard,
                              TargetDocument(route, batch().statements[index]));
    Placement placement;
    placement.targets.shards.push_back(shard);
    return placement;
  }

  Awaitable<absl::Status> RunSpecial(RoutePtr, size_t, Placement) override {
    co_return MakeError(ErrorCode::kInternalError, "an insert concerns one shard");
  }

  absl::Status Check(size_t index) const override { return checks_[index]; }

 private:
  std::vector<absl::Status> checks_;
};

}  // namespace

Awaitable<CommandResult> InsertCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::string ns, context.Namespace());
  const wire::DocumentSequence* sequence = context.request.message.FindSequence("documents");
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      query::InsertRequest request,
      query::ParseInsert(context.body(), sequence ? &sequence->documents : nullptr));
  auto prepared = std::make_shared<Prepared>();
  prepared->client = context.request.message.owner;
  std::vector<absl::Status> checks;
  checks.reserve(request.documents.size());
  for (bson::View& document : request.documents) {
    auto made = PrepareDocument(document, *context.router.clock);
    checks.push_back(made.status());
    if (!made.ok() || !*made) continue;
    prepared->made.push_back(**std::move(made));
    document = prepared->made.back();
  }
  const size_t count = request.documents.size();
  context.router.metrics.inserts.fetch_add(count, std::memory_order_relaxed);
  BatchWriter::Batch batch;
  batch.kind = WriteKind::kInsert;
  batch.ns = std::move(ns);
  EVENKEEL_CO_ASSIGN_OR_RETURN(batch.ids, StatementIds(request.stmt_id, request.stmt_ids, count));
  batch.statements = std::move(request.documents);
  batch.ordered = request.ordered;
  batch.may_create = true;
  batch.keep = std::move(prepared);
  InsertWriter writer(context, std::move(batch), std::move(checks));
  co_return co_await writer.Run();
}

}  // namespace evenkeel::router::write
