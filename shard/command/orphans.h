// What moves leave behind: documents that lie on a shard and belong to another one (taken away, or
// brought in vain), and retired incarnations of collections. They are in no answer; what was begun
// before the move may still read them.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/time/time.h>

#include "shard/command/command.h"

namespace evenkeel::shard {

// _removeOrphans: removes those of one collection at once; queries that could still read them end
// with QueryPlanKilled. Errors: IllegalOperation while its ranges are being moved.
Awaitable<CommandResult> RemoveOrphansCommand(CommandContext& context);

// Removes what was left behind of all collections, when no read is left that was begun before the
// move, or after kWaitMax. One caller at a time.
class OrphanRemoval {
 public:
  // MongoDB's default of orphanCleanupDelaySecs.
  static constexpr absl::Duration kWaitMax = absl::Minutes(15);
  // To be run now and then. Suspends: between slices. Errors: of the store; Interrupted.
  Awaitable<absl::Status> Run(ShardService& service, base::CancellationToken cancelled);

 private:
  bool MayRemove(ShardService& service, const catalog::CollectionEntry& entry);

  absl::flat_hash_map<CollectionId, absl::Time> seen_;  // since when there is something
};

}  // namespace evenkeel::shard
