// Lists the shard's catalog page by page.
#include "shard/command/list_catalog.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "shard/command/index_keys.h"

namespace evenkeel::shard {
namespace {

constexpr size_t kPageBytes = 4u << 20;

using EntryPtr = std::shared_ptr<const catalog::CollectionEntry>;

std::vector<EntryPtr> EntriesBehind(const catalog::ShardCatalog& catalog, uint64_t after) {
  std::vector<EntryPtr> entries;
  for (const auto& [id, entry] : catalog.collections()) {
    if (id.value > after) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const EntryPtr& a, const EntryPtr& b) { return a->id.value < b->id.value; });
  return entries;
}

void AppendAssignments(const catalog::ShardCatalog& catalog, bson::Builder* reply) {
  reply->OpenArray("assignments");
  bson::ArrayAppender array(*reply);
  for (const auto& [name, assignment] : catalog.assignments()) array.Add(assignment->ToBson());
  reply->Close();
}

// By the counters of ranges that belong to others.
int64_t OrphansOf(const storage::ReadSlice& slice, const catalog::CollectionEntry& entry,
                  const catalog::Assignment* assignment, ShardId shard) {
  int64_t documents = 0;
  if (assignment == nullptr) return documents;
  for (const catalog::HashRange& range : assignment->ranges()) {
    if (range.owner == shard) continue;
    documents += slice.Counter(CounterKey(entry, assignment, range.min)).documents;
  }
  return documents;
}

void AppendEntry(const storage::ReadSlice& slice, const catalog::CollectionEntry& entry,
                 bson::Builder* row) {
  const catalog::ShardCatalog& catalog = CatalogOf(slice);
  const auto assignment = entry.sharded() ? catalog.FindAssignment(entry.assignment) : nullptr;
  row->Append("entry", entry.ToBson())
      .Append("documents", CountOf(slice, entry, assignment.get(), catalog.shard()).documents)
      .Append("orphans", OrphansOf(slice, entry, assignment.get(), catalog.shard()));
}

}  // namespace

Awaitable<CommandResult> ListCatalogCommand(CommandContext& context) {
  const bson::Value after = context.body()["after"];
  const storage::ReadSlice slice = context.service.store().Read();
  const catalog::ShardCatalog& catalog = CatalogOf(slice);
  bson::Builder reply;
  if (after.missing()) AppendAssignments(catalog, &reply);
  bool more = false;
  reply.OpenArray("collections");
  bson::ArrayAppender rows(reply);
  const auto first =
      after.IsNumber() ? static_cast<uint64_t>(bson::ToInt64Truncated(after)) : uint64_t{0};
  for (const EntryPtr& entry : EntriesBehind(catalog, first)) {
    more = reply.SizeBytes() > kPageBytes;
    if (more) break;
    reply.OpenDocument(rows.NextKey());
    AppendEntry(slice, *entry, &reply);
    reply.Close();
  }
  reply.Close().Append("more", more);
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
