// Work for the store's writer, and how a command waits for it.
#pragma once

#include <absl/status/status.h>

#include <memory>

#include "base/async/byte_budget.h"
#include "base/async/wait.h"
#include "shard/command/command.h"
#include "shard/command/service.h"
#include "shard/commit/intents.h"
#include "storage/store.h"

namespace evenkeel::shard {

// What a command hands to the writer. It stays alive until it is durable, whatever becomes of the
// command; what it refers to lives until it was executed, so the command waits for that.
class WriteTask {
 public:
  virtual ~WriteTask() = default;
  // Writer thread; short; keeps its results in members, which the command reads after it has
  // waited. Called again, after its effects were taken back, when it has met a key that a
  // transaction holds: it starts afresh.
  virtual void Execute(storage::WriteContext& context) = 0;
  // About how many bytes it will write. Always the same for one task.
  virtual size_t SizeBytes() const = 0;
  // True for what frees space: taken on a full disk too.
  virtual bool IsEssential() const { return false; }
  // True for the shard's own work, which waits for a transaction's key as long as it takes.
  virtual bool IsPatient() const { return false; }
};

// The writes of one command, in the order in which they were submitted. One coroutine at a time.
//
// In a transaction, tasks write into its layer, and there is nothing to be durable before it
// commits.
//
// Invariant: nothing a task has computed is told to anybody before Durable has returned OK.
class CommandWrites {
 public:
  // Hands a task to the writer when the shard's budget has room for it: a command that writes
  // faster than the log waits for itself and others. Errors: of the store's admission,
  // MaxTimeMSExpired, Interrupted; nothing was done.
  Awaitable<absl::Status> Submit(const CommandContext& context, std::shared_ptr<WriteTask> task);
  // The same at once, whatever is pending: for the shard's own work.
  absl::Status SubmitNow(ShardService& service, std::shared_ptr<WriteTask> task);
  bool any() const { return newest_ != nullptr; }
  // Waits until the newest task was executed: its results may be read, but not yet told. One that
  // meets a transaction's key waits for it and is executed again; so it has to be waited for before
  // the next one is submitted.
  // Errors: as Durable, for a task that was refused and not executed; WriteConflict and
  // NoSuchTransaction in a transaction, which has to end then; MaxTimeMSExpired, Interrupted, or
  // WriteConflict after a long wait for a key.
  Awaitable<absl::Status> Executed();
  // Waits until the newest task was executed, or has met a key that a transaction holds: true then,
  // and nothing of it was done. Instead of Executed, by a command that holds what others need.
  Awaitable<bool> MeetsHeldKey();
  // Gives that task up and waits until the transaction has let go of the key. No transaction takes
  // it as long as the place is kept. Errors: MaxTimeMSExpired, Interrupted, or WriteConflict after
  // a long wait.
  Awaitable<absl::StatusOr<Intents::Place>> AwaitKey();
  // Waits until everything the tasks have seen and done is durable and visible. OK without any; a
  // task that was refused or has given up has done nothing, and that was told by Executed.
  // Errors: of the first task that failed: InterruptedAtShutdown (outcome unknown), OutOfDiskSpace
  // (nothing of that task happened).
  Awaitable<absl::Status> Durable();
  // What the newest task has seen and done lies at or below it. After Executed, without an error.
  Timestamp timestamp() const;

 private:
  struct Pending;
  struct Failures;
  class Op;
  // Who waits for the newest task.
  struct Caller {
    ShardService* service = nullptr;
    absl::Time deadline = absl::InfiniteFuture();
    base::CancellationToken cancelled;
    std::shared_ptr<Transaction> transaction;
  };
  absl::Status SubmitNewest(base::ByteBudget::Grant grant);
  // Waits for the transaction that the newest task has met.
  Awaitable<absl::Status> AwaitHolder();
  Awaitable<absl::Status> WaitForKeys();

  Caller caller_;
  absl::Time keys_give_up_;  // of the newest task
  bool goes_on_ = false;     // it is a new attempt at one that was given up for its key
  std::shared_ptr<WriteTask> task_;
  std::shared_ptr<Pending> newest_;
  std::shared_ptr<Failures> failures_;  // of all
};

// Submits one task and waits for durability.
Awaitable<absl::Status> SubmitAndWait(const CommandContext& context,
                                      std::shared_ptr<WriteTask> task);
// The same at once.
Awaitable<absl::Status> SubmitNowAndWait(ShardService& service, std::shared_ptr<WriteTask> task);

}  // namespace evenkeel::shard
