// Changes of config.* on shard 0 as DDL jobs make them: conditional batches; and the ids that they
// give out.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "catalog/config_collections.h"
#include "router/command.h"

namespace evenkeel::router::ddl {

// Collects what one batch expects and writes. Source: docs/internal_protocol.md, `_commitCatalog`.
class CatalogBatch {
 public:
  // The batch fails with ConflictingOperationInProgress unless the document is (not) there, or its
  // field `version` has this value.
  CatalogBatch& Expect(CollectionId collection, std::string_view id, bool exists);
  CatalogBatch& ExpectVersion(CollectionId collection, std::string_view id, int64_t version);

  CatalogBatch& Put(CollectionId collection, bson::View document);  // by its `_id`
  CatalogBatch& PutOnce(CollectionId collection,
                        bson::View document);  // only when it is not there yet
  CatalogBatch& Remove(CollectionId collection, bson::Value id);
  CatalogBatch& Remove(CollectionId collection, std::string_view id);

  // Adds writes that were collected before, as Writes returned them.
  CatalogBatch& AddWrites(bson::View writes);
  // The writes so far as an array, for a job's record.
  bson::Document Writes() const;

  // Commits the batch: durable when it returns OK.
  Awaitable<absl::Status> Commit(RouterState& router,
                                 absl::Time deadline = absl::InfiniteFuture()) const;

 private:
  std::vector<bson::Document> expect_, writes_;
};

// Ids that this router has taken from the sequence and not given out yet.
struct FreeIds {
  absl::Mutex mutex;
  uint64_t next ABSL_GUARDED_BY(mutex) = 0;
  uint64_t end ABSL_GUARDED_BY(mutex) = 0;
};

// `count` ids for collections and indexes that were never used before: the first of the run.
Awaitable<absl::StatusOr<uint64_t>> AllocateIds(RouterState& router, uint64_t count);

}  // namespace evenkeel::router::ddl
