// One shard as its routers see it: executes the commands of docs/internal_protocol.md against the
// shard's store.
//
// Handlers are coroutines: they start in the caller's executor, go to the pool for long scans, and
// come back. Reading happens in slices, writing by tasks for the store's writer
// (shard/command/write_task.h). Nothing of a slice is kept across a wait.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "base/async/byte_budget.h"
#include "base/async/cancellation.h"
#include "base/clock.h"
#include "base/limits.h"
#include "catalog/shard_catalog.h"
#include "query/settings.h"
#include "shard/commit/shard_state.h"
#include "shard/commit/transaction_table.h"
#include "storage/store.h"
#include "wire/protocol/message.h"

namespace evenkeel::shard {

class CursorTable;      // shard/command/cursor_table.h
class KeyedLocks;       // shard/command/keyed_locks.h
class MultiWrites;      // shard/command/multi_writes.h
class OrphanRemoval;    // shard/command/orphans.h
class VersionsInUse;    // shard/command/versions_in_use.h
struct CommandContext;  // shard/command/command.h

class ShardService {
 public:
  // `store`, `clock` and `wall` outlive the service. `executor` runs short work, `pool` long scans.
  ShardService(storage::ShardStore* store, base::HybridClock* clock, const base::WallClock* wall,
               boost::asio::any_io_executor executor, boost::asio::any_io_executor pool);
  ~ShardService();

  // Loads the catalog and the prepared transactions from the store and publishes them. Before the
  // first Handle.
  Awaitable<absl::Status> Start();

  // Executes one command. Returns the reply document, {ok: 0, code, …} for a failed one; never
  // fails itself, nor does it throw.
  // A request with the field $txn is a statement of a transaction, which the first one opens.
  Awaitable<bson::Document> Handle(wire::Message request, absl::Time deadline,
                                   base::CancellationToken cancelled);

  // Ends cursors that nobody has used for kCursorIdleMax and removes expired rows of retryable
  // writes, and documents that moves have left behind. To be run every minute or so. Suspends:
  // between slices. Errors: of the store; Interrupted.
  Awaitable<absl::Status> RunUpkeep(base::CancellationToken cancelled);
  // Half of what the store takes before it refuses: commands wait before they are refused.
  static constexpr size_t kWriteBudgetBytes = limits::kPendingWriteBytesPerShardMax / 2;
  static constexpr absl::Duration kCursorIdleMax = absl::Minutes(10);  // MongoDB's default

  // Ends a transaction that is neither prepared nor over, after the statement that is under way:
  // its keys are free, nothing of it is left.
  // Gives up at the deadline.
  Awaitable<void> Abort(std::shared_ptr<Transaction> transaction,
                        absl::Time deadline = absl::InfiniteFuture());
  // Ends transactions that are older than transaction_lifetime and not prepared. To be run every
  // second or so.
  Awaitable<void> EndOldTransactions();
  // MongoDB's transactionLifetimeLimitSeconds.
  std::atomic<int64_t> transaction_lifetime_seconds{60};
  // What queries may use, from now on; without it the defaults, and no disk.
  void SetQuerySettings(std::shared_ptr<const query::Settings> settings) {
    query_settings_ = std::move(settings);
  }
  const query::Settings& query_settings() const { return *query_settings_; }
  // Commands that take longer are logged. Any thread.
  absl::Duration slow_after() const {
    return absl::Milliseconds(slow_ms_.load(std::memory_order_relaxed));
  }
  // Commands on collections of users so far. Any thread.
  int64_t served() const { return served_.load(std::memory_order_relaxed); }
  void SetSlowMs(int64_t slow_ms) { slow_ms_.store(slow_ms, std::memory_order_relaxed); }

  storage::ShardStore& store() { return *store_; }
  // The shard's part of the catalog, as of the latest durable write.
  std::shared_ptr<const catalog::ShardCatalog> catalog() const { return state()->catalog; }
  std::shared_ptr<const ShardState> state() const {
    return std::static_pointer_cast<const ShardState>(store_->State());
  }
  base::HybridClock& clock() { return *clock_; }
  const base::WallClock& wall() const { return *wall_; }
  CursorTable& cursors() { return *cursors_; }
  VersionsInUse& open_reads() { return *open_reads_; }
  MultiWrites& multi_writes() { return *multi_writes_; }
  KeyedLocks& upsert_locks() { return *upsert_locks_; }
  TransactionTable& transactions() { return *transactions_; }
  // The turns of statements, by Transaction::lock.
  KeyedLocks& transaction_locks() { return *transaction_locks_; }
  // Of writes that were submitted and are not durable yet.
  const std::shared_ptr<base::ByteBudget>& write_budget() { return write_budget_; }
  const boost::asio::any_io_executor& executor() const { return executor_; }
  const boost::asio::any_io_executor& pool() const { return pool_; }

 private:
  storage::ShardStore* store_;
  base::HybridClock* clock_;
  const base::WallClock* wall_;
  boost::asio::any_io_executor executor_;
  boost::asio::any_io_executor pool_;
  std::shared_ptr<const query::Settings> query_settings_ = std::make_shared<query::Settings>();
  std::shared_ptr<VersionsInUse> open_reads_;
  std::unique_ptr<CursorTable> cursors_;
  std::unique_ptr<MultiWrites> multi_writes_;
  std::unique_ptr<KeyedLocks> upsert_locks_;
  std::unique_ptr<TransactionTable> transactions_;
  std::unique_ptr<KeyedLocks> transaction_locks_;
  std::unique_ptr<OrphanRemoval> orphan_removal_;  // of RunUpkeep
  std::shared_ptr<base::ByteBudget> write_budget_;
  std::atomic<int64_t> slow_ms_{100};
  std::atomic<int64_t> served_{0};
};

}  // namespace evenkeel::shard
