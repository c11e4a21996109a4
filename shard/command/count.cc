// count and distinct: values that need no cursor.
#include "shard/command/count.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/compare.h"
#include "base/limits.h"
#include "base/status.h"
#include "query/request/count_request.h"
#include "query/request/distinct_request.h"
#include "shard/command/counters.h"
#include "shard/command/figures.h"
#include "shard/command/read_cursor.h"
#include "storage/keys/key_encoding.h"

namespace evenkeel::shard {
namespace {

struct ValueLess {
  const bson::StringComparator* collation;
  bool operator()(const bson::OwnedValue& a, const bson::OwnedValue& b) const {
    return bson::Compare(a.value(), b.value(), collation) < 0;
  }
};

// All values of a path in one document, as distinct counts them: elements of arrays one by one.
void CollectValues(bson::Value value, const bson::Path& path, size_t at,
                   const std::function<void(bson::Value)>& visit) {
  if (at == path.size()) {
    if (value.Is(bson::Type::kArray)) {
      for (const auto& [key, element] : value.AsDocument()) visit(element);
    } else if (!value.missing()) {
      visit(value);
    }
    return;
  }
  if (value.Is(bson::Type::kObject)) {
    CollectValues(value.AsDocument()[path.part(at)], path, at + 1, visit);
  } else if (value.Is(bson::Type::kArray)) {
    if (bson::IsArrayIndex(path.part(at))) {  // one element, not fields of that name
      CollectValues(value.AsDocument()[path.part(at)], path, at + 1, visit);
      return;
    }
    for (const auto& [key, element] : value.AsDocument()) {
      if (element.Is(bson::Type::kObject)) CollectValues(element, path, at, visit);
    }
  }
}

void AppendCount(int64_t count, bson::Builder* reply) {
  if (count <= INT32_MAX) {
    reply->Append("n", static_cast<int32_t>(count));
  } else {
    reply->Append("n", count);
  }
}

// The counters of a collection, once no transaction is prepared on it.
Awaitable<absl::StatusOr<int64_t>> CountAll(CommandContext& context,
                                            const wire::ShardEnvelope& envelope) {
  while (true) {
    std::optional<PreparedEffect> prepared;
    {
      const storage::ReadSlice slice = context.service.store().Read();
      EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection, OpenCollection(slice, envelope));
      const CollectionId id = collection.entry->id;
      prepared = FirstPreparedIn(StateOf(slice), storage::Table::kDocs, storage::DocPrefix(id),
                                 storage::DocPrefixEnd(id), false, slice.timestamp());
      if (!prepared) {
        co_return CountOwned(slice, id).documents;
      }
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await context.WaitFor(prepared->transaction));
  }
}

int64_t AfterSkipAndLimit(int64_t count, const query::CountRequest& request) {
  count = std::max<int64_t>(0, count - request.skip);
  return request.limit > 0 ? std::min(count, request.limit) : count;
}

}  // namespace

Awaitable<CommandResult> CountCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::CountRequest request,
                               query::ParseCount(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  bson::Builder reply;
  if (request.query.empty() && request.hint.missing()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const int64_t all, co_await CountAll(context, envelope));
    AppendCount(AfterSkipAndLimit(all, request), &reply);
    co_return reply.Finish();
  }
  const auto command = std::make_shared<const bson::Document>(context.body());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::CountRequest kept, query::ParseCount(command->view()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      auto cursor, ReadCursor::Open(context, collection,
                                    {.command = command, .filter = kept.query, .hint = kept.hint}));
  int64_t count = 0;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await cursor->RunAll(context, [&](bson::View) {
    ++count;
    return absl::OkStatus();
  }));
  AppendCount(AfterSkipAndLimit(count, request), &reply);
  NoteFigures(context, *cursor);
  AppendFigures(context, &reply);
  co_return reply.Finish();
}

Awaitable<CommandResult> DistinctCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  const auto command = std::make_shared<const bson::Document>(context.body());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const query::DistinctRequest request,
                               query::ParseDistinct(command->view()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      auto cursor,
      ReadCursor::Open(context, collection,
                       {.command = command, .filter = request.query, .hint = request.hint}));
  const bson::Path path(request.key);
  std::set<bson::OwnedValue, ValueLess> values(ValueLess{cursor->query_context().collation});
  size_t bytes = 0;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await cursor->RunAll(context, [&](bson::View document) {
    CollectValues(bson::Value(bson::Type::kObject, document.data()), path, 0,
                  [&](bson::Value value) {
                    if (values.insert(bson::OwnedValue(value)).second)
                      bytes += value.SizeBytes() + 8;
                  });
    if (bytes <= static_cast<size_t>(limits::kDocumentBytesMax)) return absl::OkStatus();
    return Error(Location(17217), "distinct too big, {} bytes cap", limits::kDocumentBytesMax);
  }));
  bson::Builder reply;
  reply.OpenArray("values");
  bson::ArrayAppender array(reply);
  for (const bson::OwnedValue& value : values) array.Add(value);
  reply.Close();
  NoteFigures(context, *cursor);
  AppendFigures(context, &reply);
  co_return reply.Finish();
}

}  // namespace evenkeel::shard
