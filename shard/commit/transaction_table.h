// The open transactions of one shard.
//
// A session has one at a time; the newest number that it has used here is remembered for a while,
// so that a statement which comes late does not open a transaction again. The routers' own
// transactions, whose sessions are made up for them, leave nothing behind; snapshots of cursors are
// counted apart. Any thread, but intents() is the writer thread's.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <list>
#include <memory>
#include <vector>

#include "base/hash_map.h"
#include "shard/commit/intents.h"
#include "shard/commit/shard_state.h"
#include "shard/commit/transaction.h"

namespace evenkeel::shard {

class TransactionTable {
 public:
  static constexpr size_t kCountMax = 10'000;
  static constexpr size_t kSnapshotsMax = 10'000;
  static constexpr size_t kLayerBytesMax = size_t{256} << 20;  // of all layers together

  // Opens a transaction that is no snapshot. `superseded` gets the session's older one, which the
  // caller has to end.
  //
  // Errors: TransactionTooOld when the session has used a newer number here, NoSuchTransaction when
  // it has ended this one, ExceededTimeLimit when too many are open.
  absl::StatusOr<std::shared_ptr<Transaction>> Begin(txn::TransactionId id, Timestamp read_at,
                                                     std::unique_ptr<storage::Snapshot> snapshot,
                                                     TransactionKind kind, absl::Time now,
                                                     std::shared_ptr<Transaction>* superseded);
  // Opens the snapshot of a cursor. When there are too many, `superseded` gets the one that has
  // been unused for longest, which the caller has to end.
  std::shared_ptr<Transaction> BeginSnapshot(txn::TransactionId id, Timestamp read_at,
                                             std::unique_ptr<storage::Snapshot> snapshot,
                                             absl::Time now,
                                             std::shared_ptr<Transaction>* superseded);
  // A statement of it begins.
  void Use(Transaction& transaction, absl::Time now);
  // One that was prepared before a restart. Before serving.
  std::shared_ptr<Transaction> Restore(txn::PreparedTransaction prepared, absl::Time now);
  // Null: not open.
  std::shared_ptr<Transaction> Find(const txn::TransactionId& id) const;
  // It has ended. Done again it changes nothing.
  void Remove(Transaction& transaction);

  // Decisions of this shard that participants may not have applied yet.
  struct OpenDecision {
    txn::TransactionId id;
    txn::Decision decision;
    absl::Time since;
  };
  void AddDecision(txn::TransactionId id, txn::Decision decision, absl::Time now);
  void RemoveDecision(const txn::TransactionId& id);
  std::vector<OpenDecision> Decisions() const;

  std::vector<std::shared_ptr<Transaction>> All() const;
  // Forgets numbers of sessions that were last used before.
  void Forget(absl::Time before);
  size_t size() const;  // without snapshots
  size_t snapshot_count() const;

  // Counts the transaction's layer as it is now. Returns the bytes of all layers.
  size_t CountLayer(Transaction& transaction);

  Intents& intents() { return intents_; }

 private:
  struct Slot {
    TxnNumber newest;
    std::shared_ptr<Transaction> open;  // null once it has ended
    absl::Time last_use;
  };

  using SnapshotList = std::list<std::shared_ptr<Transaction>>;

  mutable absl::Mutex mutex_;
  // In the order of their last use, and where each is, by session.
  SnapshotList snapshots_ ABSL_GUARDED_BY(mutex_);
  base::StringMap<SnapshotList::iterator> snapshot_places_ ABSL_GUARDED_BY(mutex_);
  base::StringMap<Slot> sessions_ ABSL_GUARDED_BY(mutex_);
  // Those whose session has gone on.
  std::vector<std::shared_ptr<Transaction>> behind_ ABSL_GUARDED_BY(mutex_);
  std::vector<OpenDecision> decisions_ ABSL_GUARDED_BY(mutex_);
  size_t open_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_lock_ ABSL_GUARDED_BY(mutex_) = 1;
  size_t layer_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  Intents intents_;
};

}  // namespace evenkeel::shard
