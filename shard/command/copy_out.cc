// The giving side of a copy: documents page by page.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/status.h"
#include "catalog/rebalance.h"
#include "shard/command/copy.h"
#include "storage/keys/placement.h"

namespace evenkeel::shard {
namespace {

constexpr size_t kDocumentsPerPage = 1000;
constexpr size_t kPageBytes = 8u << 20;
// Documents looked at for one page: where few of them are given, a page may be short.
constexpr size_t kExaminedMax = 20'000;

// Where the documents lie that the copy gets: all of the collection, or, of a move within it, those
// of the ranges that leave.
std::vector<storage::TableRange> KeysOf(const Collection& collection) {
  const CollectionId id = collection.entry->id;
  if (!collection.entry->moves_ranges()) return {storage::DocsOf(id)};
  return storage::KeysOf(
      id, collection.entry->placed_by(),
      catalog::SpansLeaving(*collection.assignment, *collection.next, collection.shard));
}

bool IsGiven(const Collection& collection, std::string_view doc_key, bson::View document) {
  if (!collection.Owns(doc_key, document)) return false;
  return !collection.entry->moves_ranges() || !collection.OwnsNext(doc_key, document);
}

// Appends documents behind `after`, which it moves. True when there are more. A document on which
// a transaction is prepared is given as it was: its change is noted.
bool AppendDocuments(const storage::ReadSlice& slice, const Collection& collection,
                     std::string* after, bson::Builder* reply) {
  bson::ArrayAppender documents(*reply);
  const auto cursor = slice.NewCursor(storage::Table::kDocs);
  size_t examined = 0, given = 0;
  for (const storage::TableRange& range : KeysOf(collection)) {
    if (*after >= range.end) continue;
    const std::string behind = *after + '\0';
    cursor->Seek(after->empty() ? range.begin : std::max(range.begin, behind), range.end);
    for (; cursor->Valid(); cursor->Next()) {
      if (given == kDocumentsPerPage || ++examined > kExaminedMax) return true;
      if (reply->SizeBytes() > kPageBytes) return true;
      const bson::View document(cursor->record().value.data());
      *after = std::string(cursor->key());
      if (!IsGiven(collection, *after, document)) continue;
      documents.Add(document);
      ++given;
    }
  }
  return false;
}

}  // namespace

Awaitable<CommandResult> CopyOutCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  if (!collection.entry->copied_to) {
    co_return Error(ErrorCode::kIllegalOperation, "collection {} is not being copied",
                    collection.entry->ns);
  }
  std::string after;
  if (const bson::Value value = context.body()["after"]; value.Is(bson::Type::kBinary)) {
    after = std::string(value.AsBinary().bytes);
  }
  const auto home = context.service.executor();
  co_await base::SwitchTo(context.service.pool());
  bson::Builder reply;
  reply.OpenArray("documents");
  const bool more = AppendDocuments(context.service.store().Read(), collection, &after, &reply);
  co_await base::SwitchTo(home);
  reply.Close().AppendBinary("after", 0, after).Append("more", more);
  reply.Append("served", context.service.served());
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
