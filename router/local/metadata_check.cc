// Compares config.catalog with the rest of config.* and with the rows of the shards.
#include "router/local/metadata_check.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/compare.h"
#include "router/cluster.h"

namespace evenkeel::router::local {
namespace {

using catalog::CollectionEntry;

constexpr uint8_t kUuidSubtype = 4;

bool SameDocument(bson::View a, bson::View b) { return a.Bytes() == b.Bytes(); }

bson::View Field(bson::View row, std::string_view name) {
  const bson::Value value = row[name];
  return value.Is(bson::Type::kObject) ? value.AsDocument() : bson::View();
}

std::string_view UuidOf(bson::View row) {
  const bson::Value uuid = row["uuid"];
  return uuid.Is(bson::Type::kBinary) ? uuid.AsBinary().bytes : std::string_view();
}

bool HasKeyIndex(const CollectionEntry& entry) {
  if (entry.shard_key->IsById()) return true;
  const std::string& field = entry.shard_key->hashed_field().dotted();
  return std::any_of(entry.indexes.begin(), entry.indexes.end(),
                     [&field](const catalog::IndexEntry& index) {
                       return !index.fields.empty() && index.fields.front().path.dotted() == field;
                     });
}

// The row of config.collections, which drivers and tools read.
void CheckCollectionsRow(const MetadataSnapshot& snapshot, const CollectionEntry& entry,
                         Inconsistencies* out) {
  const auto row = snapshot.collections.find(entry.ns);
  if (row == snapshot.collections.end()) {
    if (!entry.sharded()) return;
    bson::Builder details = Inconsistencies::Details(entry.ns);
    details.AppendBinary("collectionUUID", kUuidSubtype, entry.uuid);
    out->Add("MissingCollectionMetadata", "config.collections lacks a sharded collection",
             std::move(details));
    return;
  }
  bson::Builder details = Inconsistencies::Details(entry.ns);
  details.Append("collection", row->second);
  if (!entry.sharded()) {
    out->Add("CollectionMetadataMismatch",
             "config.collections has a collection that config.catalog knows as unsharded",
             std::move(details));
  } else if (UuidOf(row->second) != entry.uuid) {
    details.AppendBinary("UUID", kUuidSubtype, entry.uuid);
    out->Add("CollectionUUIDMismatch",
             "config.collections has another UUID of the collection than config.catalog",
             std::move(details));
  } else if (bson::CompareDocuments(Field(row->second, "key"), entry.shard_key->pattern()) != 0) {
    details.Append("key", entry.shard_key->pattern());
    out->Add("CollectionMetadataMismatch",
             "config.collections has another shard key of the collection than config.catalog",
             std::move(details));
  }
}

void CheckEntry(const MetadataSnapshot& snapshot, const CollectionEntry& entry,
                Inconsistencies* out) {
  if (!snapshot.databases.contains(entry.database())) {
    out->Add(entry.sharded() ? "HiddenShardedCollection" : "HiddenUnshardedCollection",
             "the database of the collection does not exist", Inconsistencies::Details(entry.ns));
  }
  CheckCollectionsRow(snapshot, entry, out);
  if (entry.kind == catalog::CollectionKind::kView) return;
  if (entry.sharded() && !HasKeyIndex(entry)) {
    bson::Builder details = Inconsistencies::Details(entry.ns);
    details.Append("shardKey", entry.shard_key->pattern());
    out->Add("MissingShardKeyIndex", "no index of the collection begins with its shard key",
             std::move(details));
  }
}

// ---- rows of shards ----

bson::Builder OnShard(std::string_view ns, uint32_t shard) {
  bson::Builder details = Inconsistencies::Details(ns);
  details.Append("shard", Cluster::ShardName(ShardId{shard}));
  return details;
}

std::vector<bson::Document> Specs(const CollectionEntry& entry) {
  std::vector<bson::Document> specs;
  for (const catalog::IndexEntry& index : entry.indexes) specs.push_back(index.spec);
  std::sort(specs.begin(), specs.end(), [](const bson::Document& a, const bson::Document& b) {
    return bson::CompareDocuments(a, b) < 0;
  });
  return specs;
}

void AppendSpecs(std::string_view name, const std::vector<bson::Document>& specs,
                 bson::Builder* details) {
  details->OpenArray(name);
  bson::ArrayAppender array(*details);
  for (const bson::Document& spec : specs) array.Add(spec);
  details->Close();
}

void CheckIndexes(const CollectionEntry& entry, const CollectionEntry& local, uint32_t shard,
                  Inconsistencies* out) {
  const std::vector<bson::Document> wanted = Specs(entry), found = Specs(local);
  if (std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(), SameDocument)) return;
  bson::Builder details = OnShard(entry.ns, shard);
  details.OpenDocument("info");
  AppendSpecs("indexes", wanted, &details);
  AppendSpecs("localIndexes", found, &details);
  details.Close();
  out->Add("InconsistentIndex", "a shard has other indexes of the collection than config.catalog",
           std::move(details));
}

// What a shard that has the collection knows of it.
void CheckLocal(const CollectionEntry& entry, const CollectionEntry& local, uint32_t shard,
                Inconsistencies* out) {
  if (local.uuid != entry.uuid) {
    bson::Builder details = OnShard(entry.ns, shard);
    details.AppendBinary("localUUID", kUuidSubtype, local.uuid);
    details.AppendBinary("UUID", kUuidSubtype, entry.uuid);
    out->Add("CollectionUUIDMismatch",
             "a shard has another UUID of the collection than config.catalog", std::move(details));
  }
  if (local.sharded() != entry.sharded()) {
    out->Add(entry.sharded() ? "ShardThinksCollectionIsUnsharded" : "CollectionMetadataMismatch",
             "shard and config.catalog do not agree whether the collection is sharded",
             OnShard(entry.ns, shard));
  }
  if (local.version != entry.version) {
    bson::Builder details = OnShard(entry.ns, shard);
    details.Append("version", static_cast<int64_t>(entry.version.value));
    details.Append("localVersion", static_cast<int64_t>(local.version.value));
    out->Add("CollectionVersionMismatch",
             "a shard has another version of the collection than config.catalog",
             std::move(details));
  }
  if (!SameDocument(local.options, entry.options)) {
    bson::Builder details = OnShard(entry.ns, shard);
    details.Append("options", entry.options).Append("localOptions", local.options);
    out->Add("CollectionOptionsMismatch",
             "a shard has other options of the collection than config.catalog", std::move(details));
  }
  CheckIndexes(entry, local, shard, out);
}

void CheckOnShards(const MetadataSnapshot& snapshot, const CollectionEntry& entry,
                   Inconsistencies* out) {
  const auto assignment = snapshot.assignments.find(entry.assignment);
  const bool placed = !entry.sharded() || assignment != snapshot.assignments.end();
  if (!placed) {
    bson::Builder details = Inconsistencies::Details(entry.ns);
    details.Append("assignment", entry.assignment);
    out->Add("MissingAssignment", "config.assignments lacks the ranges of the collection",
             std::move(details));
    return;
  }
  const std::vector<ShardId> owners =
      entry.sharded() ? assignment->second.Owners() : std::vector<ShardId>(1, entry.primary);
  for (const auto& [number, rows] : snapshot.shards) {
    const bool owns = std::find(owners.begin(), owners.end(), ShardId{number}) != owners.end();
    const auto local = rows.collections.find(entry.id.value);
    if (local == rows.collections.end()) {
      if (!owns) continue;
      bson::Builder details = OnShard(entry.ns, number);
      details.AppendBinary("collectionUUID", kUuidSubtype, entry.uuid);
      out->Add("MissingLocalCollection", "a shard that owns part of the collection lacks it",
               std::move(details));
      continue;
    }
    if (!owns && !entry.sharded()) {
      bson::Builder details = OnShard(entry.ns, number);
      details.AppendBinary("localUUID", kUuidSubtype, local->second.uuid);
      out->Add("MisplacedCollection", "an unsharded collection is on a shard that is not its own",
               std::move(details));
    }
    CheckLocal(entry, local->second, number, out);
  }
}

// Collections of shards that config.catalog does not have.
void CheckUnknown(const MetadataSnapshot& snapshot, Inconsistencies* out) {
  std::set<uint64_t> known;
  for (const CollectionEntry& entry : snapshot.catalog) known.insert(entry.id.value);
  for (const auto& [number, rows] : snapshot.shards) {
    for (const auto& [id, row] : rows.collections) {
      const std::string& ns = row.ns;
      if (known.contains(id) || snapshot.IsBusy(ns) || !out->Concerns(ns)) continue;
      bson::Builder details = OnShard(ns, number);
      details.AppendBinary("localUUID", kUuidSubtype, row.uuid);
      out->Add("UnknownCollection", "a shard has a collection that config.catalog lacks",
               std::move(details));
    }
  }
}

void CheckUncataloged(const MetadataSnapshot& snapshot, Inconsistencies* out) {
  std::set<std::string_view> known;
  for (const CollectionEntry& entry : snapshot.catalog) known.insert(entry.ns);
  for (const auto& [ns, row] : snapshot.collections) {
    if (known.contains(ns) || snapshot.IsBusy(ns) || !out->Concerns(ns)) continue;
    bson::Builder details = Inconsistencies::Details(ns);
    details.Append("collection", row);
    out->Add("MissingLocalCollection",
             "config.collections has a collection that config.catalog lacks", std::move(details));
  }
}

// The ranges as shards know them. They concern every collection that has them.
void CheckAssignments(const MetadataSnapshot& snapshot, Inconsistencies* out) {
  for (const auto& [number, rows] : snapshot.shards) {
    for (const bson::Document& local : rows.assignments) {
      const bson::Value id = local["_id"];
      if (!id.Is(bson::Type::kString)) continue;
      const auto found = snapshot.assignments.find(id.AsString());
      if (found != snapshot.assignments.end() && SameDocument(found->second.ToBson(), local)) {
        continue;
      }
      bson::Builder details = OnShard("config.assignments", number);
      details.Append("assignment", id);
      out->Add("AssignmentMismatch", "a shard has other ranges than config.assignments",
               std::move(details));
    }
  }
}

}  // namespace

bson::Builder Inconsistencies::Details(std::string_view ns) {
  bson::Builder details;
  details.Append("namespace", ns);
  return details;
}

void Inconsistencies::Add(std::string_view type, std::string_view description,
                          bson::Builder details) {
  bson::Builder row;
  row.Append("type", type).Append("description", description).Append("details", details.Finish());
  found_.push_back(row.Finish());
}

void CheckMetadata(const MetadataSnapshot& snapshot, Inconsistencies* out) {
  for (const CollectionEntry& entry : snapshot.catalog) {
    if (snapshot.IsBusy(entry.ns) || !out->Concerns(entry.ns)) continue;
    CheckEntry(snapshot, entry, out);
    if (entry.kind == catalog::CollectionKind::kCollection) CheckOnShards(snapshot, entry, out);
  }
  CheckUncataloged(snapshot, out);
  CheckUnknown(snapshot, out);
  if (out->Concerns("config.assignments")) CheckAssignments(snapshot, out);
  CheckChunks(snapshot, out);
}

}  // namespace evenkeel::router::local
