// What a copy asks between batches: whether it may go on, and how fast; and whom it tells how far
// it is.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <memory>
#include <utility>

#include "base/bson/view.h"
#include "catalog/collection.h"
#include "router/command.h"
#include "router/ddl/move_progress.h"

namespace evenkeel::router::ddl {

class CheckGoOn {
 public:
  using Ask = std::function<Awaitable<absl::Status>()>;

  // progress  null: nobody looks at it.
  CheckGoOn(RouterState& router, Ask ask, std::shared_ptr<MoveProgress> progress)
      : router_(router), ask_(std::move(ask)), progress_(std::move(progress)) {}

  // An error ends the copy. Errors: of the question; InterruptedAtShutdown.
  Awaitable<absl::Status> operator()() const;

  // Before the copy: what a source has of the collection, of which that share is copied. Errors:
  // of the shard.
  Awaitable<absl::Status> Measure(ShardId source, const catalog::CollectionEntry& entry,
                                  double share) const;
  // Waits until this batch of documents, an array, may be put. Errors: as above, which is asked
  // meanwhile.
  Awaitable<absl::Status> AwaitTurn(bson::View batch) const;
  void Copied(bson::View batch) const;
  // The batch took so long while clients were served.
  void GiveWay(absl::Duration took) const;
  void TookOver(int64_t notes) const;
  void EndRound(int64_t notes) const;

 private:
  RouterState& router_;
  const Ask ask_;
  const std::shared_ptr<MoveProgress> progress_;
};

}  // namespace evenkeel::router::ddl
