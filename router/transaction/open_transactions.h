// The clients' transactions that this router has begun and not ended, for currentOp.
//
// Any thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_set.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <memory>
#include <vector>

#include "router/transaction/transaction.h"

namespace evenkeel::router {

// How long shards keep a transaction that nobody ends: MongoDB's transactionLifetimeLimitSeconds.
inline constexpr absl::Duration kTransactionLifetime = absl::Seconds(60);

class OpenTransactions {
 public:
  void Add(std::shared_ptr<const ClientTransaction> transaction);
  // It is over. Nothing happens when it is not there.
  void Remove(const std::shared_ptr<const ClientTransaction>& transaction);
  // Forgets those that have outlived what shards keep, and returns the others.
  std::vector<std::shared_ptr<const ClientTransaction>> List(absl::Time now);

 private:
  absl::Mutex mutex_;
  absl::flat_hash_set<std::shared_ptr<const ClientTransaction>> open_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace evenkeel::router
