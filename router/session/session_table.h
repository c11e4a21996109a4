// The sessions that clients use: when each was last seen, and the order of its requests.
//
// Sessions begin with their first use; startSession only makes up an id. Any thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/view.h"
#include "base/clock.h"
#include "base/hash_map.h"
#include "router/session/async_mutex.h"
#include "router/transaction/transaction.h"

namespace evenkeel::router {

// One session as the table keeps it.
struct Session {
  std::string id;  // the 16 bytes of lsid.id
  // Requests that read or write take it, so that they run one after another.
  std::shared_ptr<AsyncMutex> order = std::make_shared<AsyncMutex>();
  absl::Time last_use;  // guarded by the table's mutex
  // Whoever has the turn uses these: the open transaction or the one that has ended last, and the
  // newest number that the session has used.
  std::shared_ptr<ClientTransaction> transaction;
  TxnNumber newest{-1};
};

class SessionTable {
 public:
  explicit SessionTable(const base::WallClock* wall) : wall_(wall) {}

  // The session with this id, begun now if it is new. Null when the table is full
  // (TooManyLogicalSessions is the caller's to say).
  std::shared_ptr<Session> Use(std::string_view id);
  // Keeps it alive if it is known.
  void Refresh(std::string_view id);
  // Forgets it and returns it, null if it is unknown; its requests under way go on.
  std::shared_ptr<Session> End(std::string_view id);
  // Drops sessions that were not used for the session timeout and returns them.
  std::vector<std::shared_ptr<Session>> Expire();

  struct Listed {
    std::string id;
    absl::Time last_use;
  };
  std::vector<Listed> List() const;
  size_t size() const;

 private:
  const base::WallClock* wall_;
  mutable absl::Mutex mutex_;
  base::StringMap<std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(mutex_);
};

// The 16 bytes of {id: UUID}. Errors: TypeMismatch.
absl::StatusOr<std::string_view> SessionIdOf(bson::View lsid);

}  // namespace evenkeel::router
