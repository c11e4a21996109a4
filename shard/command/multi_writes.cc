// Lets statements that change many documents end before a collection is closed for writes.
#include "shard/command/multi_writes.h"

#include <absl/time/clock.h>

#include <utility>

#include "base/async/wait.h"
#include "base/status.h"

namespace evenkeel::shard {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(5);

}  // namespace

std::optional<VersionsInUse::Use> MultiWrites::TryBegin(const CommandContext& context,
                                                        const Collection& collection) {
  const CollectionId id = collection.entry->id;
  absl::MutexLock lock(&mutex_);
  if (const auto held = held_.find(id); held != held_.end()) {
    const auto now = context.service.catalog()->Find(id);
    const bool same = now != nullptr && now->version == held->second.version;
    if (same && absl::Now() < held->second.until) return std::nullopt;
    held_.erase(held);
  }
  return under_way_->Begin(*collection.entry);
}

Awaitable<absl::StatusOr<VersionsInUse::Use>> MultiWrites::Begin(const CommandContext& context,
                                                                 const Collection& collection) {
  while (true) {
    if (auto use = TryBegin(context, collection)) co_return *std::move(use);
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kPause, context.cancelled));
  }
}

Awaitable<absl::Status> MultiWrites::Hold(const CommandContext& context,
                                          const Collection& collection) {
  const absl::Time now = absl::Now();
  const CollectionId id = collection.entry->id;
  const CatalogVersion version = collection.entry->version;
  {
    absl::MutexLock lock(&mutex_);
    held_[id] = {version, now + kHoldMax};
  }
  while (under_way_->HasOlder(id, {version.value + 1}) && absl::Now() < now + kEndMax) {
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kPause, context.cancelled));
  }
  co_return absl::OkStatus();
}

Awaitable<CommandResult> HoldMultiWritesCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const wire::ShardEnvelope envelope,
                               wire::ParseEnvelope(context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const Collection collection,
                               OpenCollection(*context.service.catalog(), envelope));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await context.service.multi_writes().Hold(context, collection));
  co_return bson::Document();
}

}  // namespace evenkeel::shard
