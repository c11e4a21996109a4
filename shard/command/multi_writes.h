// Updates and deletes of many documents that are under way: a move must not cut one in two.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <memory>
#include <optional>

#include "shard/command/command.h"
#include "shard/command/versions_in_use.h"

namespace evenkeel::shard {

// Any thread.
class MultiWrites {
 public:
  // How long new ones wait at most, and how much of it those under way may take.
  static constexpr absl::Duration kHoldMax = absl::Seconds(40), kEndMax = absl::Seconds(30);

  // Begins one, which lasts as long as what is returned. Waits while they are held back. Errors:
  // MaxTimeMSExpired, Interrupted.
  Awaitable<absl::StatusOr<VersionsInUse::Use>> Begin(const CommandContext& context,
                                                      const Collection& collection);
  // Holds new ones back until the collection has another version, for kHoldMax at most, and waits
  // for those under way, for kEndMax at most.
  Awaitable<absl::Status> Hold(const CommandContext& context, const Collection& collection);

 private:
  struct Held {
    CatalogVersion version;
    absl::Time until;
  };
  std::optional<VersionsInUse::Use> TryBegin(const CommandContext& context,
                                             const Collection& collection);

  const std::shared_ptr<VersionsInUse> under_way_ = std::make_shared<VersionsInUse>();
  absl::Mutex mutex_;
  absl::flat_hash_map<CollectionId, Held> held_ ABSL_GUARDED_BY(mutex_);
};

// _holdMultiWrites: those of one collection, before it is closed for writes.
Awaitable<CommandResult> HoldMultiWritesCommand(CommandContext& context);

}  // namespace evenkeel::shard
