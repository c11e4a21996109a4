// Steps of jobs, each in one batch.
#include "shard/command/apply_catalog.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "shard/command/changes.h"
#include "shard/command/counters.h"
#include "shard/command/index_keys.h"
#include "shard/command/versions_in_use.h"
#include "shard/command/write_task.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"

namespace evenkeel::shard {
namespace {

// One step of a job on this shard. Done again it changes nothing: a version that is known or a
// collection that was dropped is not put once more.
class ApplyTask final : public WriteTask {
 public:
  std::vector<std::shared_ptr<const catalog::Assignment>> assignments;
  std::vector<std::shared_ptr<const catalog::CollectionEntry>> put;
  std::vector<CollectionId> drop;
  // A prepared transaction that has written to one of the collections: nothing was done, it is
  // waited for.
  std::shared_ptr<Transaction> blocked_on;
  absl::Status status;

  void Execute(storage::WriteContext& context) override {
    blocked_on = FindPrepared(context);
    if (blocked_on != nullptr) return;
    status = CheckNoOrphans(context);
    if (!status.ok()) return;
    for (const auto& assignment : assignments) PutRanges(context, assignment);
    for (const auto& entry : put) Put(context, entry);
    for (const CollectionId id : drop) Drop(context, id);
  }
  size_t SizeBytes() const override {
    return 4096 * (1 + assignments.size() + put.size() + drop.size());
  }
  bool IsEssential() const override { return true; }

 private:
  std::shared_ptr<Transaction> FindPrepared(storage::WriteContext& context) const {
    for (const auto& transaction : StateOf(context).prepared) {
      for (const auto& [id, version] : transaction->done.collections) {
        if (Concerns(id)) return transaction;
      }
    }
    return nullptr;
  }

  // A move would take them for documents that it has brought.
  absl::Status CheckNoOrphans(storage::WriteContext& context) const {
    for (const auto& entry : put) {
      const auto before = CatalogOf(context).Find(entry->id);
      const bool begins = entry->moves_ranges() && before != nullptr && !before->moves_ranges();
      if (!begins || context.Counter(OrphanedCounterKey(entry->id)) == storage::Count{}) continue;
      return Error(ErrorCode::kIllegalOperation,
                   "shard{} has documents of '{}' that belong to other shards",
                   CatalogOf(context).shard().value, entry->ns);
    }
    return absl::OkStatus();
  }

  bool Concerns(CollectionId id) const {
    const auto is_it = [id](const auto& entry) { return entry->id == id; };
    return std::any_of(put.begin(), put.end(), is_it) ||
           std::find(drop.begin(), drop.end(), id) != drop.end();
  }

  // Ranges never change under their name.
  static void PutRanges(storage::WriteContext& context,
                        const std::shared_ptr<const catalog::Assignment>& assignment) {
    if (CatalogOf(context).FindAssignment(assignment->name()) != nullptr) return;
    context.Put(storage::Table::kMeta, catalog::MetaAssignmentKey(assignment->name()),
                assignment->ToBson().bytes());
    SetCatalog(context, CatalogOf(context).With(assignment));
  }

  static void Put(storage::WriteContext& context,
                  const std::shared_ptr<const catalog::CollectionEntry>& entry) {
    const auto before = CatalogOf(context).Find(entry->id);
    if (before != nullptr && before->version >= entry->version) return;
    if (context.Get(storage::Table::kMeta, catalog::MetaDroppedKey(entry->id))) return;
    context.Put(storage::Table::kMeta, catalog::MetaCollectionKey(entry->id),
                entry->ToBson().bytes());
    if (before != nullptr) DropMissingIndexes(context, *before, *entry);
    if (before != nullptr && !before->job.empty() && entry->job.empty()) {
      ForgetAges(context, *entry);
    }
    if (before != nullptr && before->copied_to && !entry->copied_to) {
      ForgetNotes(context, *before->copied_to);
      if (before->moves_ranges()) EndMove(context, before, *entry);
    }
    SetCatalog(context, CatalogOf(context).With(entry));
  }

  // What has come belongs to the shard now and what has gone does not; of a move that was given up,
  // what has come does not.
  static void EndMove(storage::WriteContext& context,
                      const std::shared_ptr<const catalog::CollectionEntry>& before,
                      const catalog::CollectionEntry& after) {
    ForgetAges(context, *before);
    const auto moving = WithRanges(before, CatalogOf(context));
    if (!moving.ok()) return;
    const bool done = after.assignment != before->assignment;
    const std::string owned = OwnedCounterKey(after.id), orphaned = OrphanedCounterKey(after.id);
    for (const std::string& key : ArrivingCounterKeys(*moving)) {
      context.AddToCounter(done ? owned : orphaned, SetToZero(context, key));
    }
    const storage::Count left = SetToZero(context, LeavingCounterKey(after.id));
    if (!done) return;
    context.AddToCounter(owned, {-left.documents, -left.bytes});
    context.AddToCounter(orphaned, left);
  }

  static void DropMissingIndexes(storage::WriteContext& context,
                                 const catalog::CollectionEntry& before,
                                 const catalog::CollectionEntry& after) {
    for (const catalog::IndexEntry& index : before.indexes) {
      bool kept = false;
      for (const catalog::IndexEntry& other : after.indexes) kept |= other.id == index.id;
      if (!kept) DropIndex(context, index.id);
    }
  }

  // Returns what it was.
  static storage::Count SetToZero(storage::WriteContext& context, const std::string& counter) {
    const storage::Count left = context.Counter(counter);
    if (left != storage::Count{}) context.AddToCounter(counter, {-left.documents, -left.bytes});
    return left;
  }

  static void DropIndex(storage::WriteContext& context, IndexId id) {
    context.RemoveRange(storage::Table::kIndex,
                        {storage::IndexPrefix(id, ""), storage::IndexEnd(id)});
    SetToZero(context, IndexCounterKey(id));
    ForgetIndex(context, id);
  }

  static void ForgetIndex(storage::WriteContext& context, IndexId id) {
    const catalog::ShardCatalog& catalog = CatalogOf(context);
    const bool multikey = catalog.IsMultikey(id), long_keys = catalog.HasLongKeys(id);
    if (multikey) context.Remove(storage::Table::kMeta, catalog::MetaMultikeyKey(id));
    if (long_keys) context.Remove(storage::Table::kMeta, catalog::MetaLongKeysKey(id));
    if (multikey || long_keys) SetCatalog(context, catalog.WithoutIndex(id));
  }

  // A collection that was never here is marked too: its creation may still be on the way.
  static void Drop(storage::WriteContext& context, CollectionId id) {
    const std::string mark = catalog::MetaDroppedKey(id);
    if (context.Get(storage::Table::kMeta, mark)) return;
    context.Put(storage::Table::kMeta, mark, "1");
    const auto entry = CatalogOf(context).Find(id);
    if (entry == nullptr) return;
    for (const catalog::IndexEntry& index : entry->indexes) {
      HasRecords(*entry, index) ? DropIndex(context, index.id) : ForgetIndex(context, index.id);
    }
    context.RemoveRange(storage::Table::kDocs, storage::DocsOf(id));
    if (!entry->job.empty() || entry->moves_ranges()) ForgetAges(context, *entry);
    if (entry->copied_to) ForgetNotes(context, *entry->copied_to);
    const catalog::ShardCatalog& catalog = CatalogOf(context);
    // A shard that does not know the ranges of a collection has no documents of it.
    if (const auto collection = WithRanges(entry, catalog); collection.ok()) {
      for (const std::string& key : CounterKeys(*collection)) SetToZero(context, key);
    }
    context.Remove(storage::Table::kMeta, catalog::MetaCollectionKey(id));
    SetCatalog(context, catalog.Without(id));
  }
};

}  // namespace

Awaitable<CommandResult> ApplyCatalogCommand(CommandContext& context) {
  const auto task = std::make_shared<ApplyTask>();
  const bson::Value put = context.body()["put"], drop = context.body()["drop"],
                    assignments = context.body()["assignments"];
  if (assignments.Is(bson::Type::kArray)) {
    for (const auto& [key, value] : assignments.AsDocument()) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(
          catalog::Assignment ranges,
          catalog::Assignment::FromBson(value.Is(bson::Type::kObject) ? value.AsDocument()
                                                                      : bson::View()));
      task->assignments.push_back(std::make_shared<const catalog::Assignment>(std::move(ranges)));
    }
  }
  if (put.Is(bson::Type::kArray)) {
    for (const auto& [key, value] : put.AsDocument()) {
      if (!value.Is(bson::Type::kObject))
        co_return MakeError(ErrorCode::kInvalidOptions, "_applyCatalog puts entries");
      EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::CollectionEntry entry,
                                   catalog::CollectionEntry::FromBson(value.AsDocument()));
      if (entry.indexes.empty() || !entry.indexes.front().IsIdIndex())
        co_return Error(ErrorCode::kInvalidOptions, "'{}' lacks its _id index", entry.ns);
      task->put.push_back(std::make_shared<const catalog::CollectionEntry>(std::move(entry)));
    }
  }
  if (drop.Is(bson::Type::kArray)) {
    for (const auto& [key, value] : drop.AsDocument()) {
      task->drop.push_back(
          CollectionId{static_cast<uint64_t>(bson::ToInt64Exact(value).value_or(0))});
    }
  }
  do {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(context.service, task));
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
    if (task->blocked_on != nullptr) {
      EVENKEEL_CO_RETURN_IF_ERROR(
          co_await task->blocked_on->ended.Wait(context.deadline, context.cancelled));
    }
  } while (task->blocked_on != nullptr);
  for (const auto& entry : task->put) {
    if (!entry->retired || context.service.open_reads().HasOlder(entry->id, entry->version)) {
      continue;
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await DropCollection(context.service, entry->id));
  }
  co_return bson::Document();
}

Awaitable<absl::Status> DropCollection(ShardService& service, CollectionId id) {
  const auto task = std::make_shared<ApplyTask>();
  task->drop.push_back(id);
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(service, task));
  if (task->blocked_on != nullptr) {
    co_return Error(ErrorCode::kConflictingOperationInProgress,
                    "a prepared transaction has written to collection {}", id.value);
  }
  co_return task->status;
}

}  // namespace evenkeel::shard
