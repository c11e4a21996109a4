// Makes catalog entries, and the documents of config.* that follow from them.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "catalog/assignment.h"
#include "catalog/collection.h"
#include "catalog/routing_table.h"
#include "router/command.h"
#include "router/ddl/catalog_batch.h"

namespace evenkeel::router::ddl {

// Errors: DatabaseDifferCase (13297) when a database exists whose name differs in case only.
Awaitable<absl::Status> CheckDatabaseCase(RouterState& router, std::string database);
// A new collection without indexes but `_id_`, with fresh ids and a fresh UUID, on the shard with
// the fewest bytes. Errors: those of CheckDatabaseCase.
Awaitable<absl::StatusOr<catalog::CollectionEntry>> NewCollection(RouterState& router,
                                                                  std::string ns,
                                                                  bson::Document options);

// The shard with the fewest bytes; of about equal ones that with the fewest collections. Not one
// that is being drained.
Awaitable<absl::StatusOr<ShardId>> EmptiestShard(RouterState& router);

// The entry's documents in config.catalog, config.databases and, for a sharded one,
// config.collections and config.chunks. `assignment` is null for unsharded ones.
void PutEntry(RouterState& router, const catalog::CollectionEntry& entry,
              const catalog::Assignment* assignment, CatalogBatch* batch);
// The database's own document, if it is not there yet.
void PutDatabase(RouterState& router, std::string_view database, CatalogBatch* batch);
// Removes them again, but not the database's.
void RemoveEntry(const catalog::CollectionEntry& entry, const catalog::Assignment* assignment,
                 CatalogBatch* batch);

// All collections and views of a database.
Awaitable<absl::StatusOr<std::vector<catalog::CollectionEntry>>> EntriesOf(
    RouterState& router, std::string_view database);
// One by name, as shard 0 knows it now; the cache is not asked. Null: none.
Awaitable<absl::StatusOr<std::shared_ptr<const catalog::Route>>> Current(RouterState& router,
                                                                         std::string ns,
                                                                         CallScope scope);
// The ranges that new sharded collections get: the newest ones.
Awaitable<absl::StatusOr<std::shared_ptr<const catalog::Assignment>>> NewestAssignment(
    RouterState& router);
// An entry with the ranges that it names. Errors: InternalError when there are none of that name.
Awaitable<absl::StatusOr<catalog::Route>> RouteOf(RouterState& router,
                                                  catalog::CollectionEntry entry);

// A copy with the next version.
catalog::CollectionEntry NextVersion(const catalog::CollectionEntry& entry);

}  // namespace evenkeel::router::ddl
