// Bridges the writer's threads to waiting coroutines.
#include "shard/command/write_task.h"

#include <utility>

#include "base/status.h"

namespace evenkeel::shard {

struct PendingWrite::State {
  std::shared_ptr<WriteTask> task;
  base::Event executed;
  base::Event finished;
  bool was_executed = false;
  absl::Status status;
  Timestamp timestamp;
};

namespace {

class TaskOp final : public storage::WriteOp {
 public:
  explicit TaskOp(std::shared_ptr<PendingWrite::State> state) : state_(std::move(state)) {}

  void Execute(storage::WriteContext& context) override {
    state_->task->Execute(context);
    state_->timestamp = context.timestamp();
    state_->was_executed = true;
    state_->executed.Set();
  }

  void Finished(const absl::Status& status, Timestamp) override {
    state_->status = status;
    state_->executed.Set();  // a task that was refused was never executed
    state_->finished.Set();
  }

  size_t SizeBytes() const override { return state_->task->SizeBytes(); }

 private:
  std::shared_ptr<PendingWrite::State> state_;
};

}  // namespace

Awaitable<absl::Status> PendingWrite::Executed() const {
  const auto state = state_;
  (void)co_await state->executed.Wait();
  co_return state->was_executed ? absl::OkStatus() : state->status;
}

Awaitable<absl::Status> PendingWrite::Durable() const {
  const auto state = state_;
  (void)co_await state->finished.Wait();
  co_return state->status;
}

Timestamp PendingWrite::timestamp() const { return state_->timestamp; }

absl::StatusOr<PendingWrite> Submit(ShardService& service, std::shared_ptr<WriteTask> task) {
  auto state = std::make_shared<PendingWrite::State>();
  state->task = std::move(task);
  EVENKEEL_RETURN_IF_ERROR(service.store().Submit(std::make_unique<TaskOp>(state)));
  return PendingWrite(std::move(state));
}

Awaitable<absl::Status> SubmitAndWait(ShardService& service, std::shared_ptr<WriteTask> task) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const PendingWrite pending, Submit(service, std::move(task)));
  co_return co_await pending.Durable();
}

}  // namespace evenkeel::shard
