// Plans the steps of jobs that move documents.
#include "router/ddl/copy_job.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/cluster.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/entries.h"
#include "router/ddl/shard_key_rules.h"
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

bool HasKeyIndex(const CollectionEntry& entry) {
  if (entry.shard_key->IsById()) return true;
  for (const catalog::IndexEntry& index : entry.indexes) {
    if (index.fields.front().path.dotted() == entry.shard_key->hashed_field().dotted()) return true;
  }
  return false;
}

// Shards that owned ranges once know a sharded collection too, and may have orphans of it.
std::vector<ShardId> ShardsThatKnow(const RouterState& router, const catalog::Route& route) {
  return route.assignment ? router.cluster->AllShards() : route.Shards();
}

// The same row for all of these shards.
void ApplyTo(const std::vector<ShardId>& shards, const CollectionEntry& entry,
             std::vector<Step>* steps) {
  for (const ShardId shard : shards) steps->push_back(Step::Apply(shard, {entry}));
}

// Lets writes of many documents end: the switch would cut them in two.
void Hold(const std::vector<ShardId>& shards, const CollectionEntry& entry,
          std::vector<Step>* steps) {
  for (const ShardId shard : shards) {
    steps->push_back(Step::On(Step::Kind::kHold, shard, entry));
  }
}

Step CommitRow(const CollectionEntry& entry) {
  CatalogBatch batch;
  batch.Put(catalog::kConfigCatalog, entry.ToBson().view());
  return Step::Commit(batch.Writes());
}

// Both together, ascending, each once.
std::vector<ShardId> Union(const std::vector<ShardId>& a, const std::vector<ShardId>& b) {
  std::vector<ShardId> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

// The versions that a collection goes through while its documents are copied.
struct Versions {
  CollectionEntry followed;  // its changes are noted
  CollectionEntry closed;    // and it is closed for writes
  CollectionEntry open;      // as it was
  CollectionEntry retired;   // or without its name, which the copy has taken

  Versions(const CollectionEntry& from, catalog::CopyTarget copy) : followed(NextVersion(from)) {
    followed.copied_to = std::move(copy);
    closed = NextVersion(followed);
    closed.writes_closed = true;
    open = NextVersion(closed);
    open.writes_closed = false;
    open.copied_to.reset();
    retired = NextVersion(closed);
    retired.copied_to.reset();
    retired.retired = true;
  }
};

}  // namespace

void AddDrop(const RouterState& router, const catalog::Route& route, std::vector<Step>* steps) {
  for (const ShardId shard : ShardsThatKnow(router, route)) {
    steps->push_back(Step::Apply(shard, {}, {route.entry->id}));
  }
}

Awaitable<absl::StatusOr<catalog::Route>> NewIncarnation(RouterState& router, CollectionEntry from,
                                                         Incarnation as) {
  CollectionEntry entry = std::move(from);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const uint64_t first,
                               co_await AllocateIds(router, 2 + entry.indexes.size()));
  entry.id = CollectionId{first};
  entry.version = CatalogVersion{1};
  uint64_t next = first + 1;
  for (catalog::IndexEntry& index : entry.indexes) index.id = IndexId{next++};
  entry.shard_key = std::move(as.shard_key);
  entry.assignment.clear();
  entry.primary = as.primary;
  entry.job = std::move(as.job);
  catalog::Route route;
  if (entry.sharded()) {
    EVENKEEL_CO_RETURN_IF_ERROR(CheckUniqueIndexes(entry));
    if (!HasKeyIndex(entry)) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(catalog::IndexEntry index,
                                   KeyIndex(IndexId{next}, *entry.shard_key));
      entry.indexes.push_back(std::move(index));
    }
    EVENKEEL_CO_ASSIGN_OR_RETURN(route.assignment, co_await NewestAssignment(router));
    entry.assignment = route.assignment->name();
  }
  route.entry = std::make_shared<const CollectionEntry>(std::move(entry));
  co_return route;
}

Job CreateJob(RouterState& router, std::string kind, const catalog::Route& into) {
  const CollectionEntry& entry = *into.entry;
  Job job;
  job.name = entry.ns;
  job.kind = std::move(kind);
  for (const ShardId shard : into.Shards()) {
    job.steps.push_back(Step::Apply(shard, {entry}));
    if (into.assignment) job.steps.back().assignments.push_back(*into.assignment);
  }
  AddDrop(router, into, &job.undo);
  CatalogBatch writes;
  PutEntry(router, entry, into.assignment.get(), &writes);
  job.steps.push_back(Step::Commit(writes.Writes()));
  job.no_return = job.steps.size();
  return job;
}

Job CopyJob(RouterState& router, std::string kind, const catalog::Route& from,
            const catalog::Route& into) {
  const Versions old(*from.entry, {into.entry->id, into.entry->shard_key, ""});
  // The version that the copy ends with: a snapshot from before does not read half of it.
  CollectionEntry ready = NextVersion(*into.entry);
  ready.job.clear();
  const std::vector<ShardId> sources = from.Shards(), targets = into.Shards();

  Job job;
  job.name = ready.ns;
  job.kind = std::move(kind);
  ApplyTo(sources, old.followed, &job.steps);
  job.steps.push_back(CommitRow(old.followed));
  for (const ShardId shard : targets) {
    job.steps.push_back(Step::Apply(shard, {*into.entry}));
    if (into.assignment) job.steps.back().assignments.push_back(*into.assignment);
  }
  job.steps.push_back(Step::Copying(Step::Kind::kCopy, old.followed, *into.entry));
  job.steps.push_back(Step::Copying(Step::Kind::kCatchUp, old.followed, *into.entry));
  Hold(sources, old.followed, &job.steps);
  job.steps.push_back(Step::Copying(Step::Kind::kCatchUp, old.followed, *into.entry));
  ApplyTo(sources, old.closed, &job.steps);
  job.steps.push_back(Step::Copying(Step::Kind::kFinish, old.closed, *into.entry));
  ApplyTo(targets, ready, &job.steps);
  CatalogBatch writes;
  RemoveEntry(*from.entry, from.assignment.get(), &writes);
  PutEntry(router, ready, into.assignment.get(), &writes);
  job.steps.push_back(Step::Commit(writes.Writes()));
  job.no_return = job.steps.size();
  ApplyTo(ShardsThatKnow(router, from), old.retired, &job.steps);

  AddDrop(router, into, &job.undo);
  ApplyTo(sources, old.open, &job.undo);
  job.undo.push_back(CommitRow(old.open));
  return job;
}

Job MoveRangesJob(RouterState& router, const catalog::Route& from, const catalog::Assignment& next,
                  CollectionId id) {
  const CollectionEntry& entry = *from.entry;
  const Versions at(entry, {id, entry.shard_key, next.name()});
  CollectionEntry ready = at.open;
  ready.assignment = next.name();
  // The same collection with the ranges that tell where documents go.
  const auto into = [&next](CollectionEntry version) {
    version.assignment = next.name();
    return version;
  };
  const std::vector<ShardId> shards = Union(from.Shards(), next.Owners());

  Job job;
  job.name = entry.ns;
  job.kind = std::string(kBalancing);
  // What an earlier move has left behind would be taken for what this one brings.
  for (const ShardId shard : shards)
    job.steps.push_back(Step::On(Step::Kind::kClean, shard, entry));
  for (const ShardId shard : shards) {
    job.steps.push_back(Step::Apply(shard, {at.followed}));
    job.steps.back().assignments = {*from.assignment, next};
  }
  job.steps.push_back(CommitRow(at.followed));
  job.steps.push_back(Step::Copying(Step::Kind::kCopy, at.followed, into(at.followed)));
  job.steps.push_back(Step::Copying(Step::Kind::kCatchUp, at.followed, into(at.followed)));
  Hold(shards, at.followed, &job.steps);
  job.steps.push_back(Step::Copying(Step::Kind::kCatchUp, at.followed, into(at.followed)));
  ApplyTo(shards, at.closed, &job.steps);
  job.steps.push_back(Step::Copying(Step::Kind::kFinish, at.closed, into(at.closed)));
  CatalogBatch writes;
  RemoveEntry(entry, from.assignment.get(), &writes);
  PutEntry(router, ready, &next, &writes);
  job.steps.push_back(Step::Commit(writes.Writes()));
  job.no_return = job.steps.size();
  ApplyTo(shards, ready, &job.steps);

  ApplyTo(shards, at.open, &job.undo);
  job.undo.push_back(CommitRow(at.open));
  return job;
}

}  // namespace evenkeel::router::ddl
