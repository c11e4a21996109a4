// Finds orphans and removes them in slices.
#include "shard/command/orphans.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/log.h"
#include "base/status.h"
#include "catalog/rebalance.h"
#include "shard/command/apply_catalog.h"
#include "shard/command/counters.h"
#include "shard/command/document_write.h"
#include "shard/command/versions_in_use.h"
#include "shard/command/write_task.h"
#include "storage/keys/placement.h"

namespace evenkeel::shard {
namespace {

constexpr size_t kDocumentsPerSlice = 256;
constexpr size_t kBytesPerSlice = 1u << 20;
// While the shard serves clients it pauses for so many times as long as a slice took.
constexpr int kGivesWay = 3;
// Of a bucket that has owned documents too.
constexpr size_t kExaminedPerSlice = 2048;

// Removes some orphans behind `after`.
class RemoveOrphansTask final : public WriteTask {
 public:
  RemoveOrphansTask(const Collection& collection, std::string from)
      : after(from),
        collection_(collection),
        from_(std::move(from)),
        keys_(storage::KeysOf(collection.entry->id, collection.entry->placed_by(),
                              catalog::SpansOfOthers(*collection.assignment, collection.shard))) {}

  void Execute(storage::WriteContext& context) override {
    removed = 0;
    after = from_;
    const size_t mark = context.Mark();
    status = CheckSameVersion(context, collection_);
    const std::vector<bson::Document> found = Find(context);
    for (size_t i = 0; i < found.size() && status.ok(); ++i) {
      status = Remove(context, found[i].view());
    }
    if (!status.ok()) return context.RollBackTo(mark);
    if (after.empty()) CorrectCounters(context);
    const catalog::ShardCatalog& catalog = CatalogOf(context);
    const catalog::CollectionEntry& entry = *collection_.entry;
    if (removed > 0 && catalog.CleanedSince(entry.id) < entry.version) {
      SetCatalog(context, catalog.WithCleaned(entry.id, entry.version));
    }
  }
  size_t SizeBytes() const override { return kBytesPerSlice; }
  bool IsEssential() const override { return true; }

  std::string after;  // the last key looked at; empty: the end was reached
  int64_t removed = 0;
  storage::Count corrected;  // by so much, at the end
  absl::Status status;

 private:
  // No orphan is left: what is counted as one still is owned, and counted nowhere else.
  void CorrectCounters(storage::WriteContext& context) {
    const CollectionId id = collection_.entry->id;
    corrected = context.Counter(OrphanedCounterKey(id));
    if (corrected == storage::Count{}) return;
    context.AddToCounter(OrphanedCounterKey(id), {-corrected.documents, -corrected.bytes});
    context.AddToCounter(OwnedCounterKey(id), corrected);
  }

  std::vector<bson::Document> Find(storage::WriteContext& context) {
    std::vector<bson::Document> found;
    size_t bytes = 0, examined = 0;
    const auto cursor = context.NewCursor(storage::Table::kDocs);
    for (const storage::TableRange& range : keys_) {
      if (!from_.empty() && from_ >= range.end) continue;
      cursor->Seek(std::max(range.begin, from_), range.end);
      for (; cursor->Valid(); cursor->Next()) {
        const bool full = found.size() == kDocumentsPerSlice || bytes > kBytesPerSlice;
        after = std::string(cursor->key());
        if (full || ++examined > kExaminedPerSlice) return found;
        const bson::View document(cursor->record().value.data());
        if (collection_.Owns(cursor->key(), document)) continue;
        bytes += document.SizeBytes();
        found.emplace_back(document);
      }
    }
    after.clear();
    return found;
  }

  absl::Status Remove(storage::WriteContext& context, bson::View document) {
    PreparedDocument old{document, {}};
    EVENKEEL_ASSIGN_OR_RETURN(old.records, RecordsOf(*collection_.entry, document));
    ++removed;
    return InstallRemove(context, collection_, old);
  }

  const Collection& collection_;
  const std::string from_;
  const std::vector<storage::TableRange> keys_;
};

Awaitable<absl::StatusOr<int64_t>> RemoveAll(ShardService& service, const Collection& collection,
                                             base::CancellationToken cancelled) {
  int64_t removed = 0;
  std::string after;
  do {
    const auto task = std::make_shared<RemoveOrphansTask>(collection, after);
    const absl::Time begun = absl::Now();
    const int64_t served = service.served();
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(service, task));
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
    const bool is_busy = service.served() != served;
    const absl::Duration pause = is_busy ? kGivesWay * (absl::Now() - begun) : absl::ZeroDuration();
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(pause, cancelled));
    removed += task->removed;
    after = task->after;
    if (task->corrected == storage::Count{}) continue;
    base::LogError("shard", "a move has left another number of documents than it took along",
                   {{"ns", collection.entry->ns},
                    {"documents", -task->corrected.documents},
                    {"bytes", -task->corrected.bytes}});
  } while (!after.empty());
  if (removed > 0) {
    base::LogInfo("shard", "removed documents that belong to other shards",
                  {{"ns", collection.entry->ns}, {"documents", removed}});
  }
  co_return removed;
}

bool IsLeftBehind(ShardService& service, const catalog::CollectionEntry& entry) {
  if (entry.retired) return true;
  if (!entry.sharded() || entry.moves_ranges()) return false;
  return service.store().Read().Counter(OrphanedCounterKey(entry.id)) != storage::Count{};
}

// What is left behind of one collection: orphans, or all of it.
Awaitable<absl::Status> RemoveRest(ShardService& service, const catalog::ShardCatalog& catalog,
                                   const std::shared_ptr<const catalog::CollectionEntry>& entry,
                                   base::CancellationToken cancelled) {
  if (entry->retired) co_return co_await DropCollection(service, entry->id);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection, WithRanges(entry, catalog));
  const auto removed = co_await RemoveAll(service, collection, cancelled);
  co_return removed.status();
}

}  // namespace

Awaitable<CommandResult> RemoveOrphansCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  // Whatever version the shard knows: one that owns nothing any more is not told of later ones.
  const auto catalog = context.service.catalog();
  const auto entry = catalog->Find(envelope.collection);
  int64_t removed = 0;
  if (entry != nullptr && entry->moves_ranges()) {
    co_return Error(ErrorCode::kIllegalOperation, "ranges of '{}' are being moved", entry->ns);
  }
  if (entry != nullptr && entry->sharded()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection, WithRanges(entry, *catalog));
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        removed, co_await RemoveAll(context.service, collection, context.cancelled));
  }
  bson::Builder reply;
  reply.Append("removed", removed);
  co_return reply.Finish();
}

bool OrphanRemoval::MayRemove(ShardService& service, const catalog::CollectionEntry& entry) {
  const absl::Time now = service.wall().Now();
  const absl::Time since = seen_.try_emplace(entry.id, now).first->second;
  if (now - since > kWaitMax) return true;
  const VersionsInUse& reads = service.open_reads();
  return entry.retired ? !reads.HasOlder(entry.id, entry.version)
                       : !reads.HasOthers(entry.id, entry.assignment);
}

Awaitable<absl::Status> OrphanRemoval::Run(ShardService& service,
                                           base::CancellationToken cancelled) {
  const auto catalog = service.catalog();
  absl::erase_if(seen_, [&](const auto& row) { return catalog->Find(row.first) == nullptr; });
  for (const auto& [id, entry] : catalog->collections()) {
    if (!IsLeftBehind(service, *entry)) {
      seen_.erase(id);
      continue;
    }
    if (!MayRemove(service, *entry)) continue;
    const absl::Status removed = co_await RemoveRest(service, *catalog, entry, cancelled);
    // One that has changed meanwhile is looked at the next time.
    if (!removed.ok() && !Is(removed, kStaleRouting)) co_return removed;
  }
  co_return absl::OkStatus();
}

}  // namespace evenkeel::shard
