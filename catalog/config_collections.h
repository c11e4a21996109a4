// The collections of the `config` database: fixed ids, always on shard 0, never dropped.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/types.h"
#include "catalog/collection.h"

namespace evenkeel::catalog {

inline constexpr CollectionId kConfigCatalog{1};  // every collection and view: catalog/collection.h
inline constexpr CollectionId kConfigDatabases{2};
inline constexpr CollectionId kConfigCollections{3};  // sharded ones, as MongoDB's tools read them
inline constexpr CollectionId kConfigChunks{4};
inline constexpr CollectionId kConfigShards{5};
inline constexpr CollectionId kConfigAssignments{6};
inline constexpr CollectionId kConfigJobs{7};  // running DDL jobs
inline constexpr CollectionId kConfigVersion{8};
inline constexpr CollectionId kConfigSettings{9};
inline constexpr CollectionId kConfigMongos{10};
inline constexpr CollectionId kConfigTags{11};
inline constexpr CollectionId kConfigChangelog{12};
inline constexpr CollectionId kConfigLocks{13};
inline constexpr CollectionId kConfigActionlog{14};
inline constexpr CollectionId kConfigSequences{15};  // next collection and index id
inline constexpr uint64_t kFirstUserId = 1000;       // of collections and indexes

// Entries of all of them, by id.
std::span<const std::shared_ptr<const CollectionEntry>> ConfigCollections();
// By full name ("config.chunks"), or null.
std::shared_ptr<const CollectionEntry> FindConfigCollection(std::string_view ns);

}  // namespace evenkeel::catalog
