// Answers a router that has to choose one document among several shards.
#include "shard/command/keyless.h"

#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/status.h"
#include "shard/command/candidates.h"
#include "shard/command/retry_log.h"
#include "shard/command/write_task.h"

namespace evenkeel::shard {
namespace {

// Looks at the newest state: a first attempt whose write is not durable yet has a record there.
class FindRecordTask final : public WriteTask {
 public:
  FindRecordTask(const RetryLog& retry, int32_t statement) : retry_(retry), statement_(statement) {}
  void Execute(storage::WriteContext& context) override {
    found = retry_.Find(context, statement_, statement_);
  }
  size_t SizeBytes() const override { return 64; }
  absl::StatusOr<StoredResults> found;

 private:
  const RetryLog retry_;
  const int32_t statement_;
};

}  // namespace

Awaitable<CommandResult> ChooseCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  StatementSpec spec;
  for (const auto& [name, value] : context.body()) {
    if (name == "filter" && value.Is(bson::Type::kObject)) spec.filter = value.AsDocument();
    if (name == "sort" && value.Is(bson::Type::kObject)) spec.sort = value.AsDocument();
    if (name == "hint") spec.hint = value;
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto statement,
                               WriteStatement::Compile(context, collection, spec));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<Candidate> found,
                               co_await FindFirst(context, *statement));
  bson::Builder reply;
  reply.Append("found", !found.empty());
  if (!found.empty()) {
    reply.AppendBinary("t", 0, found.front().doc_key);
    if (!statement->sort().empty()) {
      reply.AppendArray("sortKey", statement->sort().KeyOf(found.front().document.view(),
                                                           statement->collation()));
    }
  }
  co_return reply.Finish();
}

Awaitable<CommandResult> FindRecordCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_RETURN_IF_ERROR(OpenCollection(*context.service.catalog(), envelope).status());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const RetryLog retry, RetryLog::FromCommand(context, envelope));
  const bson::Value statement = context.body()["statement"];
  if (!statement.Is(bson::Type::kInt32)) {
    co_return MakeError(ErrorCode::kInvalidOptions, "the field 'statement' must be an integer");
  }
  const auto task = std::make_shared<FindRecordTask>(retry, statement.AsInt32());
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context, task));
  EVENKEEL_CO_RETURN_IF_ERROR(task->found.status());
  const txn::StatementResult* stored = task->found->Of(statement.AsInt32());
  bson::Builder reply;
  reply.Append("found", stored != nullptr);
  if (stored == nullptr) co_return reply.Finish();
  reply.Append("kind", static_cast<int32_t>(stored->kind));
  if (stored->kind == txn::StatementKind::kFindAndModify) {
    reply.Append("result", stored->reply);
    co_return reply.Finish();
  }
  reply.OpenDocument("result").Append("n", stored->matched);
  if (stored->kind == txn::StatementKind::kUpdate) reply.Append("nModified", stored->modified);
  if (!stored->upserted.value().missing()) {
    reply.OpenArray("upserted")
        .OpenDocument("0")
        .Append("index", 0)
        .Append("_id", stored->upserted)
        .Close()
        .Close();
  }
  reply.Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> WaitDurableCommand(CommandContext& context) {
  const bson::Value timestamp = context.body().Front().value;
  if (!timestamp.Is(bson::Type::kTimestamp)) {
    co_return MakeError(ErrorCode::kTypeMismatch, "_waitDurable takes a timestamp");
  }
  const auto done = std::make_shared<base::Event>();
  const auto status = std::make_shared<absl::Status>();
  context.service.store().WhenReadable(timestamp.AsTimestamp(),
                                       [done, status](absl::Status result) {
                                         *status = std::move(result);
                                         done->Set();
                                       });
  (void)co_await done->Wait();
  EVENKEEL_CO_RETURN_IF_ERROR(*status);
  co_return bson::Document();
}

}  // namespace evenkeel::shard
