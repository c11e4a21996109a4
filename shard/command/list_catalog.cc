// Lists the shard's catalog page by page.
#include "shard/command/list_catalog.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "shard/command/counters.h"

namespace evenkeel::shard {
namespace {

constexpr size_t kPageBytes = 4u << 20;

using EntryPtr = std::shared_ptr<const catalog::CollectionEntry>;

std::vector<EntryPtr> EntriesBehind(const catalog::ShardCatalog& catalog, uint64_t after) {
  std::vector<EntryPtr> entries;
  for (const auto& [id, entry] : catalog.collections()) {
    if (id.value > after && !entry->retired) entries.push_back(entry);
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

void AppendEntry(const storage::ReadSlice& slice, const EntryPtr& entry, bson::Builder* row) {
  const auto collection = WithRanges(entry, CatalogOf(slice));
  row->Append("entry", entry->ToBson())
      .Append("documents", CountOwned(slice, entry->id).documents)
      .Append("orphans", collection.ok() ? CountForeign(slice, *collection).documents : int64_t{0});
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
    AppendEntry(slice, entry, &reply);
    reply.Close();
  }
  reply.Close().Append("more", more);
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
