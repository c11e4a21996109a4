// Work for the store's writer, and how a command waits for it.
#pragma once

#include <absl/status/status.h>

#include <memory>

#include "base/async/wait.h"
#include "shard/command/service.h"
#include "storage/store.h"

namespace evenkeel::shard {

// What a command hands to the writer. It stays alive until it is durable, whatever becomes of the
// command.
class WriteTask {
 public:
  virtual ~WriteTask() = default;
  // Writer thread; short; keeps its results in members, which the command reads after it has
  // waited.
  virtual void Execute(storage::WriteContext& context) = 0;
  virtual size_t SizeBytes() const = 0;
};

// A submitted task.
class PendingWrite {
 public:
  struct State;
  PendingWrite() = default;
  explicit PendingWrite(std::shared_ptr<State> state) : state_(std::move(state)) {}
  bool submitted() const { return state_ != nullptr; }
  // Waits until the task was executed: its results may be read, but not yet told to anybody.
  // Errors: as Durable, for a task that was refused and not executed.
  Awaitable<absl::Status> Executed() const;
  // Waits until everything the task has seen and done is durable and visible.
  // Errors: ShutdownInProgress (outcome unknown), OutOfDiskSpace (nothing happened).
  Awaitable<absl::Status> Durable() const;
  // The highest commit timestamp of the task; zero if it wrote nothing. After Executed.
  Timestamp timestamp() const;

 private:
  std::shared_ptr<State> state_;
};

// Errors: of the store's admission: nothing was done.
absl::StatusOr<PendingWrite> Submit(ShardService& service, std::shared_ptr<WriteTask> task);
// Submits and waits for durability.
Awaitable<absl::Status> SubmitAndWait(ShardService& service, std::shared_ptr<WriteTask> task);

}  // namespace evenkeel::shard
