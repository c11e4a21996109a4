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
