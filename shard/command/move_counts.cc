// How many documents a move within a collection has brought and takes away.
#include <memory>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/rebalance.h"
#include "shard/command/copy.h"
#include "shard/command/counters.h"
#include "shard/command/document_write.h"
#include "shard/command/write_task.h"

namespace evenkeel::shard {
namespace {

// Sets the counter of what leaves. Done again it changes nothing.
class NoteLeavingTask final : public WriteTask {
 public:
  NoteLeavingTask(const Collection& collection, storage::Count leaving)
      : collection_(collection), leaving_(leaving) {}

  void Execute(storage::WriteContext& context) override {
    status = CheckSameVersion(context, collection_);
    if (!status.ok()) return;
    const CollectionId id = collection_.entry->id;
    const storage::Count owned = context.Counter(OwnedCounterKey(id));
    if (!CanLeave(owned)) {
      status =
          Error(ErrorCode::kInternalError,
                "{} documents of {} bytes of '{}' were copied from shard{}, which has {} of {}",
                leaving_.documents, leaving_.bytes, collection_.entry->ns, collection_.shard.value,
                owned.documents, owned.bytes);
      return;
    }
    const std::string key = LeavingCounterKey(id);
    const storage::Count before = context.Counter(key);
    context.AddToCounter(key,
                         {leaving_.documents - before.documents, leaving_.bytes - before.bytes});
  }
  size_t SizeBytes() const override { return 256; }
  absl::Status status;

 private:
  // A shard that gives all or nothing knows the number, another one the most there can be.
  bool CanLeave(const storage::Count& owned) const {
    if (collection_.next->OwnsNothing(collection_.shard)) return leaving_ == owned;
    if (catalog::SpansLeaving(*collection_.assignment, *collection_.next, collection_.shard)
            .empty()) {
      return leaving_ == storage::Count{};
    }
    return leaving_.documents >= 0 && leaving_.documents <= owned.documents &&
           leaving_.bytes >= 0 && leaving_.bytes <= owned.bytes;
  }

  const Collection& collection_;
  const storage::Count leaving_;
};

absl::StatusOr<Collection> OpenMoving(const CommandContext& context) {
  EVENKEEL_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                            wire::ParseEnvelope(context.body()));
  EVENKEEL_ASSIGN_OR_RETURN(Collection collection,
                            OpenCollection(*context.service.catalog(), envelope));
  if (collection.entry->moves_ranges()) return collection;
  return Error(ErrorCode::kIllegalOperation, "no ranges of '{}' are being moved",
               collection.entry->ns);
}

}  // namespace

Awaitable<CommandResult> ArrivalsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection, OpenMoving(context));
  const storage::ReadSlice slice = context.service.store().Read();
  bson::Builder reply;
  reply.OpenArray("arrivals");
  bson::ArrayAppender rows(reply);
  for (const catalog::HashRange& range : collection.assignment->ranges()) {
    if (range.owner == collection.shard) continue;
    const storage::Count count = slice.Counter(ArrivingCounterKey(collection.entry->id, range.min));
    if (count == storage::Count{}) continue;
    reply.OpenDocument(rows.NextKey())
        .Append("min", range.min)
        .Append("documents", count.documents)
        .Append("bytes", count.bytes)
        .Close();
  }
  reply.Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> NoteLeavingCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection, OpenMoving(context));
  const auto documents = bson::ToInt64Exact(context.body()["documents"]);
  const auto bytes = bson::ToInt64Exact(context.body()["bytes"]);
  if (!documents || !bytes) {
    co_return MakeError(ErrorCode::kInvalidOptions, "_noteLeaving needs documents and bytes");
  }
  const auto task =
      std::make_shared<NoteLeavingTask>(collection, storage::Count{*documents, *bytes});
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context, task));
  EVENKEEL_CO_RETURN_IF_ERROR(task->status);
  co_return bson::Document();
}

}  // namespace evenkeel::shard
