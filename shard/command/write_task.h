// Work for the store's writer, and how a command waits for it.
#pragma once

#include <absl/status/status.h>

#include <memory>

#include "base/async/byte_budget.h"
#include "base/async/wait.h"
#include "shard/command/command.h"
#include "shard/command/service.h"
#include "storage/store.h"

namespace evenkeel::shard {

// What a command hands to the writer. It stays alive until it is durable, whatever becomes of the
// command; what it refers to lives until it was executed, so the command waits for that.
class WriteTask {
 public:
  virtual ~WriteTask() = default;
  // Writer thread; short; keeps its results in members, which the command reads after it has
  // waited.
  virtual void Execute(storage::WriteContext& context) = 0;
  // About how many bytes it will write. Always the same for one task.
  virtual size_t SizeBytes() const = 0;
  // True for what frees space: taken on a full disk too.
  virtual bool IsEssential() const { return false; }
};

// The writes of one command, in the order in which they were submitted. One coroutine at a time.
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
  // Waits until the newest task was executed: its results may be read, but not yet told.
  // Errors: as Durable, for a task that was refused and not executed.
  Awaitable<absl::Status> Executed() const;
  // Waits until everything the tasks have seen and done is durable and visible. OK without any.
  // Errors: of the first task that failed: InterruptedAtShutdown (outcome unknown), OutOfDiskSpace
  // (nothing of that task happened).
  Awaitable<absl::Status> Durable() const;
  // What the newest task has seen and done lies at or below it. After Executed, without an error.
  Timestamp timestamp() const;

 private:
  struct Pending;
  struct Failures;
  class Op;
  absl::Status Submit(ShardService& service, std::shared_ptr<WriteTask> task,
                      base::ByteBudget::Grant grant);

  std::shared_ptr<Pending> newest_;
  std::shared_ptr<Failures> failures_;  // of all
};

// Submits one task and waits for durability.
Awaitable<absl::Status> SubmitAndWait(const CommandContext& context,
                                      std::shared_ptr<WriteTask> task);
// The same at once.
Awaitable<absl::Status> SubmitNowAndWait(ShardService& service, std::shared_ptr<WriteTask> task);

}  // namespace evenkeel::shard
