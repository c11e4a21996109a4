// The fixed entries of the config database.
#include "catalog/config_collections.h"

#include <array>
#include <vector>

#include "base/bson/builder.h"
#include "base/check.h"

namespace evenkeel::catalog {
namespace {

struct Row {
  CollectionId id;
  std::string_view ns;
};

constexpr std::array kRows = {
    Row{kConfigCatalog, "config.catalog"},
    Row{kConfigDatabases, "config.databases"},
    Row{kConfigCollections, "config.collections"},
    Row{kConfigChunks, "config.chunks"},
    Row{kConfigShards, "config.shards"},
    Row{kConfigAssignments, "config.assignments"},
    Row{kConfigJobs, "config.jobs"},
    Row{kConfigVersion, "config.version"},
    Row{kConfigSettings, "config.settings"},
    Row{kConfigMongos, "config.mongos"},
    Row{kConfigTags, "config.tags"},
    Row{kConfigChangelog, "config.changelog"},
    Row{kConfigLocks, "config.locks"},
    Row{kConfigActionlog, "config.actionlog"},
    Row{kConfigSequences, "config.sequences"},
};

std::shared_ptr<const CollectionEntry> MakeEntry(const Row& row) {
  auto entry = std::make_shared<CollectionEntry>();
  entry->id = row.id;
  entry->ns = std::string(row.ns);
  // A fixed UUID per collection: every process must agree on it without asking.
  entry->uuid = std::string("evenkeel-config\0", 16);
  entry->uuid[15] = static_cast<char>(row.id.value);
  entry->primary = ShardId{0};
  bson::Builder spec;
  spec.Append("v", int32_t{2})
      .OpenDocument("key")
      .Append("_id", int32_t{1})
      .Close()
      .Append("name", "_id_");
  auto index = IndexEntry::FromSpec(IndexId{row.id.value}, spec.Finish());
  EVENKEEL_CHECK(index.ok());
  entry->indexes.push_back(*std::move(index));
  return entry;
}

}  // namespace

std::span<const std::shared_ptr<const CollectionEntry>> ConfigCollections() {
  static const auto* entries = [] {
    auto* all = new std::vector<std::shared_ptr<const CollectionEntry>>();
    for (const Row& row : kRows) all->push_back(MakeEntry(row));
    return all;
  }();
  return *entries;
}

std::shared_ptr<const CollectionEntry> FindConfigCollection(std::string_view ns) {
  if (!ns.starts_with("config.")) return nullptr;
  for (const auto& entry : ConfigCollections()) {
    if (entry->ns == ns) return entry;
  }
  return nullptr;
}

}  // namespace evenkeel::catalog
