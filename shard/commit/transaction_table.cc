// Keeps the transactions by session.
#include "shard/commit/transaction_table.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace evenkeel::shard {
namespace {

bool IsOver(const Transaction& transaction) {
  const TransactionState state = transaction.state;
  return state == TransactionState::kCommitted || state == TransactionState::kAborted;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Transaction>> TransactionTable::Begin(
    txn::TransactionId id, Timestamp read_at, std::unique_ptr<storage::Snapshot> snapshot,
    absl::Time now, std::shared_ptr<Transaction>* superseded) {
  auto transaction = std::make_shared<Transaction>();
  transaction->snapshot = std::move(snapshot);
  transaction->started = transaction->last_use = now;
  transaction->done.id = std::move(id);
  transaction->done.read_at = read_at;
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

std::shared_ptr<Transaction> TransactionTable::Restore(txn::PreparedTransaction prepared,
                                                       absl::Time now) {
  auto transaction = std::make_shared<Transaction>();
  transaction->started = transaction->last_use = now;
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
  if (std::exchange(transaction.counted, false)) {
    --open_;
    layer_bytes_ -= std::exchange(transaction.counted_bytes, 0);
  }
  const auto found = sessions_.find(transaction.id().lsid);
  if (found != sessions_.end() && found->second.open.get() == &transaction)
    found->second.open = nullptr;
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

}  // namespace evenkeel::shard
