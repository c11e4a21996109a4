// Figures about collections and the engine.
#include "shard/command/collection_stats.h"

#include "base/bson/builder.h"
#include "base/status.h"
#include "shard/command/counters.h"
#include "shard/command/index_keys.h"

namespace evenkeel::shard {

namespace {

// Bytes of an index's entries on this shard. The `_id_` index of an unsharded collection takes no
// space of its own.
int64_t IndexBytes(const storage::ReadSlice& slice, const catalog::CollectionEntry& entry,
                   const catalog::IndexEntry& index) {
  return HasRecords(entry, index) ? slice.Counter(IndexCounterKey(index.id)).bytes : 0;
}

// Of all collections together.
void AppendTotals(const storage::ReadSlice& slice, bson::Builder* reply) {
  const catalog::ShardCatalog& catalog = CatalogOf(slice);
  int64_t collections = 0, documents = 0, data_bytes = 0, index_bytes = 0;
  for (const auto& [id, entry] : catalog.collections()) {
    if (entry->retired) continue;
    ++collections;
    const storage::Count all = CountOwned(slice, id);
    documents += all.documents;
    data_bytes += all.bytes;
    for (const catalog::IndexEntry& index : entry->indexes) {
      index_bytes += IndexBytes(slice, *entry, index);
    }
  }
  reply->Append("collections", collections)
      .Append("documents", documents)
      .Append("dataBytes", data_bytes)
      .Append("indexBytes", index_bytes);
}

}  // namespace

Awaitable<CommandResult> CollStatsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  const storage::ReadSlice slice = context.service.store().Read();
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection, OpenCollection(slice, envelope));
  const catalog::CollectionEntry& entry = *collection.entry;
  const storage::Count all = CountOwned(slice, entry.id), foreign = CountForeign(slice, collection);
  bson::Builder reply, sizes;
  int64_t index_bytes = 0;
  for (const catalog::IndexEntry& index : entry.indexes) {
    const int64_t bytes = IndexBytes(slice, entry, index);
    sizes.Append(index.name, bytes);
    index_bytes += bytes;
  }
  reply.Append("count", all.documents)
      .Append("size", all.bytes)
      .Append("avgObjSize", all.documents == 0 ? int64_t{0} : all.bytes / all.documents)
      .Append("storageSize", all.bytes)
      .Append("numOrphanDocs", foreign.documents)
      .Append("orphanBytes", foreign.bytes)
      .Append("totalIndexSize", index_bytes)
      .Append("indexSizes", sizes.Finish());
  co_return reply.Finish();
}

Awaitable<CommandResult> ShardStatsCommand(CommandContext& context) {
  const storage::StoreStats stats = context.service.store().Stats();
  const auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  bson::Builder reply;
  reply.Append("latest", stats.latest)
      .Append("lmdbBytes", number(stats.lmdb_bytes))
      .Append("activeTableBytes", number(stats.active_table_bytes))
      .Append("frozenTableBytes", number(stats.frozen_table_bytes))
      .Append("historyBytes", number(stats.history_bytes))
      .Append("pendingBytes", number(stats.pending_bytes))
      .Append("checkpoints", number(stats.checkpoints))
      .Append("batches", number(stats.batches))
      .Append("operations", number(stats.operations))
      .Append("damagedDocuments", number(stats.damaged_documents));
  {
    const storage::ReadSlice slice = context.service.store().Read();
    AppendTotals(slice, &reply);
    if (const std::string& id = CatalogOf(slice).cluster_id(); !id.empty())
      reply.AppendObjectId("clusterId", id);
  }
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
