// Changes rows of meta and documents of config.*, each command in one batch.
#include "shard/command/catalog_commands.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "shard/command/changes.h"
#include "shard/command/counters.h"
#include "shard/command/document_write.h"
#include "shard/command/index_keys.h"
#include "shard/command/write_task.h"
#include "storage/keys/key_encoding.h"
#include "storage/keys/placement.h"

namespace evenkeel::shard {
namespace {

// Gives the shard its identity and its ranges.
class InitTask final : public WriteTask {
 public:
  InitTask(std::string cluster_id, ShardId shard, catalog::Assignment assignment)
      : cluster_id_(std::move(cluster_id)), shard_(shard), assignment_(std::move(assignment)) {}

  void Execute(storage::WriteContext& context) override {
    const catalog::ShardCatalog& before = CatalogOf(context);
    if (!before.cluster_id().empty()) {
      if (before.cluster_id() != cluster_id_ || before.shard() != shard_) {
        status = Error(ErrorCode::kAlreadyInitialized,
                       "the data belong to shard{} of another cluster", before.shard().value);
      }
      return;
    }
    bson::Builder identity;
    identity.AppendObjectId("clusterId", cluster_id_)
        .Append("shard", static_cast<int32_t>(shard_.value));
    context.Put(storage::Table::kMeta, catalog::kMetaIdentityKey, identity.Finish().bytes());
    context.Put(storage::Table::kMeta, catalog::MetaAssignmentKey(assignment_.name()),
                assignment_.ToBson().bytes());
    SetCatalog(context, before.WithIdentity(cluster_id_, shard_)
                            ->With(std::make_shared<const catalog::Assignment>(assignment_)));
  }
  size_t SizeBytes() const override { return 4096; }
  absl::Status status;

 private:
  const std::string cluster_id_;
  const ShardId shard_;
  const catalog::Assignment assignment_;
};

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
    if (!entry->job.empty()) ForgetAges(context, *entry);
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

// A conditional batch over config.*.
class CommitTask final : public WriteTask {
 public:
  explicit CommitTask(bson::Document command) : command_(std::move(command)) {}

  void Execute(storage::WriteContext& context) override {
    const size_t mark = context.Mark();
    status = Run(context);
    if (!status.ok()) context.RollBackTo(mark);
  }
  size_t SizeBytes() const override { return command_.SizeBytes() * 2 + 1024; }
  absl::Status status;

 private:
  absl::Status Run(storage::WriteContext& context) {
    for (const auto& [key, row] : command_["expect"].AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(Check(context, row.AsDocument()));
    }
    for (const auto& [key, row] : command_["writes"].AsDocument()) {
      EVENKEEL_RETURN_IF_ERROR(Write(context, row.AsDocument()));
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<Collection> ConfigCollection(storage::WriteContext& context,
                                                     bson::View row) {
    const auto id = static_cast<uint64_t>(bson::ToInt64Exact(row["c"]).value_or(0));
    Collection collection;
    // Only they have no records but their documents.
    if (id < catalog::kFirstUserId) collection.entry = CatalogOf(context).Find(CollectionId{id});
    if (collection.entry == nullptr)
      return Error(ErrorCode::kIllegalOperation, "no config collection has the id {}", id);
    return collection;
  }

  static absl::Status Check(storage::WriteContext& context, bson::View row) {
    EVENKEEL_ASSIGN_OR_RETURN(const Collection collection, ConfigCollection(context, row));
    const auto record =
        context.Get(storage::Table::kDocs, storage::DocKey(collection.entry->id, "", row["_id"]));
    bool holds = true;
    if (const bson::Value exists = row["exists"]; !exists.missing())
      holds = bson::Truthy(exists) == record.has_value();
    if (const bson::Value version = row["version"]; holds && !version.missing()) {
      holds = record && bson::Compare(bson::View(record->value.data())["version"], version) == 0;
    }
    if (holds) return absl::OkStatus();
    return Error(ErrorCode::kConflictingOperationInProgress, "{} changed meanwhile: {}",
                 collection.entry->ns, bson::ToDisplay(row["_id"]));
  }

  static absl::Status Write(storage::WriteContext& context, bson::View row) {
    EVENKEEL_ASSIGN_OR_RETURN(const Collection collection, ConfigCollection(context, row));
    const std::string key = storage::DocKey(collection.entry->id, "", row["_id"]);
    const auto record = context.Get(storage::Table::kDocs, key);
    if (record && !row["once"].missing()) return absl::OkStatus();
    const bson::Document old(record ? bson::View(record->value.data()) : bson::View());
    PreparedDocument before{old.view(), {}}, after;
    before.records.doc_key = key;
    after.records.doc_key = key;
    const bson::Value document = row["d"];
    if (!document.Is(bson::Type::kObject)) {
      return record ? InstallRemove(context, collection, before) : absl::OkStatus();
    }
    after.document = document.AsDocument();
    return record ? InstallReplace(context, collection, before, after)
                  : InstallInsert(context, collection, after);
  }

  const bson::Document command_;
};

bool IsArrayOfRows(bson::Value array) {
  if (!array.Is(bson::Type::kArray)) return false;
  for (const auto& [key, row] : array.AsDocument()) {
    if (!row.Is(bson::Type::kObject) || !row.AsDocument().Contains("_id")) return false;
  }
  return true;
}

}  // namespace

Awaitable<CommandResult> InitShardCommand(CommandContext& context) {
  const bson::Value cluster = context.body()["clusterId"], shard = context.body()["shard"],
                    ranges = context.body()["assignment"];
  if (!cluster.Is(bson::Type::kObjectId) || !shard.Is(bson::Type::kInt32) ||
      !ranges.Is(bson::Type::kObject)) {
    co_return MakeError(ErrorCode::kInvalidOptions,
                        "_initShard needs clusterId, shard and assignment");
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::Assignment assignment,
                               catalog::Assignment::FromBson(ranges.AsDocument()));
  const auto task = std::make_shared<InitTask>(std::string(cluster.AsObjectId()),
                                               ShardId{static_cast<uint32_t>(shard.AsInt32())},
                                               std::move(assignment));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(context.service, task));
  EVENKEEL_CO_RETURN_IF_ERROR(task->status);
  co_return bson::Document();
}

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
  while (true) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(context.service, task));
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
    if (task->blocked_on == nullptr) co_return bson::Document();
    EVENKEEL_CO_RETURN_IF_ERROR(
        co_await task->blocked_on->ended.Wait(context.deadline, context.cancelled));
  }
}

Awaitable<CommandResult> CommitCatalogCommand(CommandContext& context) {
  for (const std::string_view field : {"expect", "writes"}) {
    if (!IsArrayOfRows(context.body()[field])) {
      co_return Error(ErrorCode::kInvalidOptions,
                      "_commitCatalog needs the array '{}' of rows with an _id", field);
    }
  }
  const auto task = std::make_shared<CommitTask>(bson::Document(context.body()));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitNowAndWait(context.service, task));
  EVENKEEL_CO_RETURN_IF_ERROR(task->status);
  co_return bson::Document();
}

}  // namespace evenkeel::shard
