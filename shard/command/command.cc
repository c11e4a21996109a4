// Steps that every command shares.
#include "shard/command/command.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "base/bson/hash.h"
#include "base/status.h"
#include "query/collation/collation.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"

namespace evenkeel::shard {
namespace {

// A command without a deadline of its own waits so long for the outcome of a transaction.
constexpr absl::Duration kDecisionWaitMax = absl::Seconds(30);

}  // namespace

absl::StatusOr<std::vector<bson::View>> CommandContext::Documents(std::string_view name) const {
  if (const wire::DocumentSequence* sequence = message.FindSequence(name))
    return sequence->documents;
  const bson::Value array = body()[name];
  if (!array.Is(bson::Type::kArray))
    return Error(ErrorCode::kFailedToParse, "the field '{}' is missing", name);
  std::vector<bson::View> documents;
  for (const auto& [key, value] : array.AsDocument()) {
    if (!value.Is(bson::Type::kObject)) {
      return Error(ErrorCode::kTypeMismatch, "'{}.{}' is not an object", name, key);
    }
    documents.push_back(value.AsDocument());
  }
  return documents;
}

absl::Status CommandContext::CheckInterrupt() const {
  if (cancelled.IsCancelled())
    return MakeError(ErrorCode::kInterrupted, "operation was interrupted");
  if (deadline != absl::InfiniteFuture() && service.wall().Now() > deadline) {
    return MakeError(ErrorCode::kMaxTimeMSExpired, "operation exceeded time limit");
  }
  return absl::OkStatus();
}

absl::StatusOr<storage::ReadSlice> CommandContext::Read() const {
  if (transaction == nullptr) return service.store().Read();
  EVENKEEL_ASSIGN_OR_RETURN(storage::ReadSlice slice,
                            service.store().ReadAt(transaction->read_at()));
  slice.SetOverlay(&transaction->done.effects);
  return slice;
}

Awaitable<absl::Status> CommandContext::WaitFor(std::shared_ptr<Transaction> prepared) const {
  const absl::Time give_up = std::min(deadline, absl::Now() + kDecisionWaitMax);
  const absl::Status status = co_await prepared->ended.Wait(give_up, cancelled);
  if (status.ok() || give_up == deadline || CodeOf(status) == ErrorCode::kInterrupted)
    co_return status;
  co_return Error(ErrorCode::kExceededTimeLimit,
                  "gave up waiting for the outcome of a transaction that shard{} decides",
                  prepared->done.coordinator.value);
}

bool Collection::Owns(std::string_view doc_key, bson::View document) const {
  return assignment == nullptr || IsOwner(*assignment, doc_key, document);
}

bool Collection::OwnsNext(std::string_view doc_key, bson::View document) const {
  return IsOwner(*next, doc_key, document);
}

bool Collection::IsOwner(const catalog::Assignment& ranges, std::string_view doc_key,
                         bson::View document) const {
  const auto owner =
      ranges.OwnerOf(storage::DecodeHash(storage::WithoutCollection(doc_key), entry->placed_by()));
  // Only a bucket can have several: its documents are placed by `_id`.
  return owner ? *owner == shard : ranges.Owns(shard, bson::HashValue(document["_id"]));
}

absl::StatusOr<Collection> WithRanges(std::shared_ptr<const catalog::CollectionEntry> entry,
                                      const catalog::ShardCatalog& catalog) {
  Collection collection;
  collection.shard = catalog.shard();
  if (entry->sharded()) collection.assignment = catalog.FindAssignment(entry->assignment);
  if (entry->moves_ranges()) {
    collection.next = catalog.FindAssignment(entry->copied_to->assignment);
  }
  if ((entry->sharded() && collection.assignment == nullptr) ||
      (entry->moves_ranges() && collection.next == nullptr)) {
    return Error(ErrorCode::kStaleConfig, "shard{} does not know the ranges '{}'",
                 catalog.shard().value,
                 collection.assignment ? entry->copied_to->assignment : entry->assignment);
  }
  collection.entry = std::move(entry);
  return collection;
}

absl::StatusOr<Collection> OpenCollection(const catalog::ShardCatalog& catalog,
                                          const wire::ShardEnvelope& envelope) {
  auto entry = catalog.Find(envelope.collection);
  if (entry == nullptr || entry->version != envelope.version) {
    return Error(ErrorCode::kStaleConfig, "shard{} does not know collection {} in version {}",
                 catalog.shard().value, envelope.collection.value, envelope.version.value);
  }
  EVENKEEL_ASSIGN_OR_RETURN(Collection collection, WithRanges(std::move(entry), catalog));
  collection.times = envelope.times;
  return collection;
}

absl::StatusOr<Collection> OpenCollection(const storage::ReadSlice& slice,
                                          const wire::ShardEnvelope& envelope) {
  return OpenCollection(CatalogOf(slice), envelope);
}

absl::StatusOr<std::unique_ptr<query::QueryContext>> MakeQueryContext(
    const CommandContext& context, const Collection& collection) {
  auto out = std::make_unique<query::QueryContext>();
  out->ns = collection.entry->ns;
  if (collection.times) {
    out->now_ms = collection.times->now_ms;
    out->cluster_time = collection.times->cluster_time;
  }
  context.service.query_settings().ApplyTo(out.get());
  if (const bson::Value let = context.body()["let"]; let.Is(bson::Type::kObject)) {
    out->let = bson::Document(let.AsDocument());
  }
  EVENKEEL_ASSIGN_OR_RETURN(out->collation, query::Collation::ForCommand(
                                                query::CollationOption(context.body()),
                                                query::CollationOption(collection.entry->options)));
  return out;
}

}  // namespace evenkeel::shard
