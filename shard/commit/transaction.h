// One transaction as one of its shards keeps it: what it has read at, what it has written, and how
// far it has come.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/cancellation.h"
#include "base/async/wait.h"
#include "base/bson/document.h"
#include "base/types.h"
#include "storage/store.h"
#include "txn/transaction_record.h"

namespace evenkeel::shard {

template <typename T>
using Awaitable = boost::asio::awaitable<T>;

// Something that happens once and that many coroutines may wait for. Any thread.
class Milestone {
 public:
  void Reach();
  bool reached() const { return reached_.load(std::memory_order_acquire); }
  // Errors: MaxTimeMSExpired at the deadline, Interrupted.
  Awaitable<absl::Status> Wait(absl::Time deadline, base::CancellationToken cancelled);

 private:
  std::atomic<bool> reached_{false};
  absl::Mutex mutex_;
  std::vector<std::shared_ptr<base::Event>> waiting_ ABSL_GUARDED_BY(mutex_);
};

enum class TransactionState : uint8_t {
  kActive,     // takes statements; can be ended by anybody
  kPrepared,   // has promised to commit; waits for the decision
  kCommitted,  // its effects are in the log
  kAborted,
};

// Whose it is.
enum class TransactionKind : uint8_t {
  kClients,    // a client's, of its session
  kStatement,  // a router's own, for one statement of a client: its id is used once
  kSnapshot,   // of a cursor: it only reads, and lives as long as it is used
};

// Statements run one at a time; the writer thread changes the state and, while a statement waits
// for it, the effects.
struct Transaction {
  std::unique_ptr<storage::Snapshot> snapshot;  // keeps the history that its reads need
  TransactionKind kind = TransactionKind::kClients;
  absl::Time started;
  size_t counted_bytes = 0;  // the table's: of its layer
  bool counted = false;      // the table's: among the open ones
  uint64_t lock = 0;         // names the turn that its statements take
  // When something was last heard of it. Any thread.
  absl::Time last_use() const { return absl::FromUnixNanos(last_use_nanos_); }
  void Use(absl::Time now) { last_use_nanos_ = absl::ToUnixNanos(now); }

  // What it has done here: kept in the form in which it is prepared.
  txn::PreparedTransaction done;
  const txn::TransactionId& id() const { return done.id; }
  Timestamp read_at() const { return done.read_at; }
  // Documents that an update has removed here and that belong to other shards now, by namespace;
  // taken by the reply of the statement.
  std::vector<std::pair<std::string, bson::Document>> leaving;
  bool wrote() const { return !done.effects.empty(); }

  std::atomic<TransactionState> state{TransactionState::kActive};
  Timestamp prepared_at;  // set before the state
  Timestamp committed_at;
  Milestone off_keys;  // its claims are free: writers may go on
  Milestone ended;     // its outcome is visible: readers may go on

 private:
  std::atomic<int64_t> last_use_nanos_{0};
};

}  // namespace evenkeel::shard
