// Plans the steps of jobs that make new incarnations.
#include "router/ddl/copy_job.h"

#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/entries.h"
#include "router/router.h"

namespace evenkeel::router::ddl {
namespace {

using catalog::CollectionEntry;

// The index that supports a shard key, as MongoDB makes it: {a: "hashed", b: 1} is "a_hashed_b_1".
absl::StatusOr<catalog::IndexEntry> KeyIndex(IndexId id, const catalog::ShardKeyPattern& key) {
  std::string name;
  for (const auto& [field, kind] : key.pattern()) {
    name += (name.empty() ? "" : "_") + std::string(field) + "_" +
            (kind.Is(bson::Type::kString) ? std::string("hashed") : std::string("1"));
  }
  bson::Builder spec;
  spec.Append("v", int32_t{2}).Append("key", key.pattern()).Append("name", name);
  return catalog::IndexEntry::FromSpec(id, spec.Finish().view());
}

// A sharded collection is unique by its shard key only.
absl::Status CheckUniqueIndexes(const CollectionEntry& entry) {
  for (const catalog::IndexEntry& index : entry.indexes) {
    if (!index.unique || index.IsIdIndex()) continue;
    return Error(ErrorCode::kInvalidOptions,
                 "can't shard collection '{}' with unique index '{}': it does not start with the "
                 "shard key",
                 entry.ns, index.name);
  }
  return absl::OkStatus();
}

bool HasKeyIndex(const CollectionEntry& entry) {
  if (entry.shard_key->IsById()) return true;
  for (const catalog::IndexEntry& index : entry.indexes) {
    if (index.fields.front().path.dotted() == entry.shard_key->hashed_field().dotted()) return true;
  }
  return false;
}

// The same row for all of these shards.
void ApplyTo(const std::vector<ShardId>& shards, const CollectionEntry& entry,
             std::vector<Step>* steps) {
  for (const ShardId shard : shards) steps->push_back(Step::Apply(shard, {entry}));
}
void DropFrom(const std::vector<ShardId>& shards, CollectionId id, std::vector<Step>* steps) {
  for (const ShardId shard : shards) steps->push_back(Step::Apply(shard, {}, {id}));
}

Step CommitRow(const CollectionEntry& entry) {
  CatalogBatch batch;
  batch.Put(catalog::kConfigCatalog, entry.ToBson().view());
  return Step::Commit(batch.Writes());
}

}  // namespace

Awaitable<absl::StatusOr<CollectionEntry>> NewIncarnation(RouterState& router, CollectionEntry from,
                                                          Incarnation as) {
  CollectionEntry entry = std::move(from);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const uint64_t first,
                               co_await AllocateIds(router, 2 + entry.indexes.size()));
  entry.id = CollectionId{first};
  entry.version = CatalogVersion{1};
  uint64_t next = first + 1;
  for (catalog::IndexEntry& index : entry.indexes) index.id = IndexId{next++};
  entry.shard_key = std::move(as.shard_key);
  entry.assignment = entry.sharded() ? std::string(catalog::kDefaultAssignment) : std::string();
  entry.primary = as.primary;
  entry.job = std::move(as.job);
  if (!entry.sharded()) co_return entry;
  EVENKEEL_CO_RETURN_IF_ERROR(CheckUniqueIndexes(entry));
  if (!HasKeyIndex(entry)) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::IndexEntry index,
                                 KeyIndex(IndexId{next}, *entry.shard_key));
    entry.indexes.push_back(std::move(index));
  }
  co_return entry;
}

Job CreateJob(RouterState& router, std::string kind, const CollectionEntry& into,
              const catalog::Assignment& ranges) {
  Job job;
  job.name = into.ns;
  job.kind = std::move(kind);
  ApplyTo(ShardsOf(into, ranges), into, &job.steps);
  DropFrom(ShardsOf(into, ranges), into.id, &job.undo);
  CatalogBatch writes;
  PutEntry(router, into, &ranges, &writes);
  job.steps.push_back(Step::Commit(writes.Writes()));
  job.no_return = job.steps.size();
  return job;
}

Job CopyJob(RouterState& router, std::string kind, const CollectionEntry& from,
            const CollectionEntry& into, const catalog::Assignment& ranges) {
  CollectionEntry followed = NextVersion(from);
  followed.copied_to = catalog::CopyTarget{into.id, into.shard_key};
  CollectionEntry closed = NextVersion(followed);
  closed.writes_closed = true;
  CollectionEntry open = NextVersion(closed);
  open.writes_closed = false;
  open.copied_to.reset();
  // The version that the copy ends with: a snapshot from before does not read half of it.
  CollectionEntry ready = NextVersion(into);
  ready.job.clear();
  const std::vector<ShardId> sources = ShardsOf(from, ranges), targets = ShardsOf(into, ranges);

  Job job;
  job.name = into.ns;
  job.kind = std::move(kind);
  ApplyTo(sources, followed, &job.steps);
  job.steps.push_back(CommitRow(followed));
  ApplyTo(targets, into, &job.steps);
  job.steps.push_back(Step::Copying(Step::Kind::kCopy, followed, into));
  job.steps.push_back(Step::Copying(Step::Kind::kCatchUp, followed, into));
  ApplyTo(sources, closed, &job.steps);
  job.steps.push_back(Step::Copying(Step::Kind::kFinish, closed, into));
  ApplyTo(targets, ready, &job.steps);
  CatalogBatch writes;
  RemoveEntry(from, from.sharded() ? &ranges : nullptr, &writes);
  PutEntry(router, ready, ready.sharded() ? &ranges : nullptr, &writes);
  job.steps.push_back(Step::Commit(writes.Writes()));
  job.no_return = job.steps.size();
  DropFrom(sources, from.id, &job.steps);

  DropFrom(targets, into.id, &job.undo);
  ApplyTo(sources, open, &job.undo);
  job.undo.push_back(CommitRow(open));
  return job;
}

}  // namespace evenkeel::router::ddl
