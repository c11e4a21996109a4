// Keeps the transactions by session.
#include "shard/commit/transaction_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status.h"

namespace evenkeel::shard {
namespace {

bool IsOver(const Transaction& transaction) {
  const TransactionState state = transaction.state;
  return state == TransactionState::kCommitted || state == TransactionState::kAborted;
}

std::shared_ptr<Transaction> MakeTransaction(txn::TransactionId id, Timestamp read_at,
                                             std::unique_ptr<storage::Snapshot> snapshot,
                                             TransactionKind kind, absl::Time now) {
  auto transaction = std::make_shared<Transaction>();
  transaction->snapshot = std::move(snapshot);
  transaction->kind = kind;
  transaction->started = now;
  transaction->Use(now);
  transaction->done.id = std::move(id);
  transaction->done.read_at = read_at;
  return transaction;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Transaction>> TransactionTable::Begin(
    txn::TransactionId id, Timestamp read_at, std::unique_ptr<storage::Snapshot> snapshot,
    TransactionKind kind, absl::Time now, std::shared_ptr<Transaction>* superseded) {
  auto transaction = MakeTransaction(std::move(id), read_at, std::move(snapshot), kind, now);
  const TxnNumber number = transaction->id().number;
  absl::MutexLock lock(&mutex_);
  if (open_ >= kCountMax) {
    return Error(ErrorCode::kExceededTimeLimit, "{} transactions are open on this shard", open_);
  }
  const auto [found, added] = sessions_.try_emplace(transaction->id().lsid);
  Slot& slot = found->second;
  if (!added && slot.newest > number) {
    return Error(ErrorCode::kTransactionTooOld,
                 "Cannot start transaction {} on session because a newer transaction {} has "
                 "already started.",
                 number.value, slot.newest.value);
  }
  if (!added && slot.newest == number) {
    return txn::TransactionAborted(number);
  }
  if (slot.open != nullptr && !IsOver(*slot.open)) {
    // It may be about to be prepared: it can be found until it is over.
    behind_.push_back(slot.open);
    if (slot.open->state == TransactionState::kActive) *superseded = slot.open;
  }
  transaction->lock = next_lock_++;
  transaction->counted = true;
  slot = {number, transaction, now};
  ++open_;
  return transaction;
}

std::shared_ptr<Transaction> TransactionTable::BeginSnapshot(
    txn::TransactionId id, Timestamp read_at, std::unique_ptr<storage::Snapshot> snapshot,
    absl::Time now, std::shared_ptr<Transaction>* superseded) {
  auto transaction =
      MakeTransaction(std::move(id), read_at, std::move(snapshot), TransactionKind::kSnapshot, now);
  absl::MutexLock lock(&mutex_);
  transaction->lock = next_lock_++;
  if (snapshots_.size() >= kSnapshotsMax) {
    *superseded = snapshots_.front();
    // One that is in use does not stand in the way of the next attempt.
    snapshots_.splice(snapshots_.end(), snapshots_, snapshots_.begin());
  }
  snapshots_.push_back(transaction);
  snapshot_places_[transaction->id().lsid] = std::prev(snapshots_.end());
  return transaction;
}

void TransactionTable::Use(Transaction& transaction, absl::Time now) {
  transaction.Use(now);
  if (transaction.kind != TransactionKind::kSnapshot) return;
  absl::MutexLock lock(&mutex_);
  const auto place = snapshot_places_.find(transaction.id().lsid);
  if (place != snapshot_places_.end())
    snapshots_.splice(snapshots_.end(), snapshots_, place->second);
}

std::shared_ptr<Transaction> TransactionTable::Restore(txn::PreparedTransaction prepared,
                                                       absl::Time now) {
  auto transaction = std::make_shared<Transaction>();
  transaction->started = now;
  transaction->Use(now);
  transaction->done = std::move(prepared);
  transaction->state = TransactionState::kPrepared;
  transaction->counted = true;
  {
    absl::MutexLock lock(&mutex_);
    transaction->lock = next_lock_++;
    ++open_;
    // A statement that comes late must not open it again.
    const auto [slot, added] = sessions_.try_emplace(transaction->id().lsid);
    if (added || slot->second.newest < transaction->id().number) {
      if (slot->second.open != nullptr) behind_.push_back(slot->second.open);
      slot->second = {transaction->id().number, transaction, now};
    } else {
      behind_.push_back(transaction);
    }
  }
  CountLayer(*transaction);
  return transaction;
}

size_t TransactionTable::CountLayer(Transaction& transaction) {
  const size_t bytes = transaction.done.effects.bytes();
  absl::MutexLock lock(&mutex_);
  if (transaction.counted) {
    layer_bytes_ += bytes - transaction.counted_bytes;
    transaction.counted_bytes = bytes;
  }
  return layer_bytes_;
}

std::shared_ptr<Transaction> TransactionTable::Find(const txn::TransactionId& id) const {
  absl::MutexLock lock(&mutex_);
  if (const auto place = snapshot_places_.find(id.lsid); place != snapshot_places_.end())
    return *place->second;
  const auto found = sessions_.find(id.lsid);
  if (found != sessions_.end() && found->second.open && found->second.open->id() == id)
    return found->second.open;
  for (const auto& transaction : behind_) {
    if (transaction->id() == id) return transaction;
  }
  return nullptr;
}

void TransactionTable::Remove(Transaction& transaction) {
  absl::MutexLock lock(&mutex_);
  if (transaction.kind == TransactionKind::kSnapshot) {
    const auto place = snapshot_places_.find(transaction.id().lsid);
    if (place == snapshot_places_.end()) return;
    const SnapshotList::iterator at = place->second;
    snapshot_places_.erase(place);
    snapshots_.erase(at);
    return;
  }
  if (std::exchange(transaction.counted, false)) {
    --open_;
    layer_bytes_ -= std::exchange(transaction.counted_bytes, 0);
  }
  const auto found = sessions_.find(transaction.id().lsid);
  if (found != sessions_.end() && found->second.open.get() == &transaction) {
    found->second.open = nullptr;
    if (transaction.kind == TransactionKind::kStatement) sessions_.erase(found);
  }
  std::erase_if(behind_, [&](const auto& other) { return other.get() == &transaction; });
}

void TransactionTable::AddDecision(txn::TransactionId id, txn::Decision decision, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  decisions_.push_back({std::move(id), std::move(decision), now});
}

void TransactionTable::RemoveDecision(const txn::TransactionId& id) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(decisions_, [&](const OpenDecision& open) { return open.id == id; });
}

std::vector<TransactionTable::OpenDecision> TransactionTable::Decisions() const {
  absl::MutexLock lock(&mutex_);
  return decisions_;
}

std::vector<std::shared_ptr<Transaction>> TransactionTable::All() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<Transaction>> all = behind_;
  all.insert(all.end(), snapshots_.begin(), snapshots_.end());
  for (const auto& [lsid, slot] : sessions_) {
    if (slot.open != nullptr) all.push_back(slot.open);
  }
  return all;
}

void TransactionTable::Forget(absl::Time before) {
  absl::MutexLock lock(&mutex_);
  absl::erase_if(sessions_, [before](const auto& entry) {
    return entry.second.open == nullptr && entry.second.last_use < before;
  });
}

size_t TransactionTable::size() const {
  absl::MutexLock lock(&mutex_);
  return open_;
}

size_t TransactionTable::snapshot_count() const {
  absl::MutexLock lock(&mutex_);
  return snapshots_.size();
}

}  // namespace evenkeel::shard
