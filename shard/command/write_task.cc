// Bridges the writer's threads to waiting coroutines.
#include "shard/command/write_task.h"

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace evenkeel::shard {

// One task on its way. The members are written before the event that tells of them is set.
struct CommandWrites::Pending {
  base::Event executed;
  base::Event finished;
  bool was_executed = false;
  absl::Status refused;  // why it was not executed
  Timestamp timestamp;
};

// Tasks finish in the order of submission, so when the newest has finished the first failure is
// known.
struct CommandWrites::Failures {
  absl::Mutex mutex;
  absl::Status first ABSL_GUARDED_BY(mutex);
};

class CommandWrites::Op final : public storage::WriteOp {
 public:
  Op(std::shared_ptr<WriteTask> task, std::shared_ptr<Pending> pending,
     std::shared_ptr<Failures> failures, std::shared_ptr<base::ByteBudget> budget,
     base::ByteBudget::Grant grant)
      : task_(std::move(task)),
        pending_(std::move(pending)),
        failures_(std::move(failures)),
        budget_(std::move(budget)),
        grant_(std::move(grant)) {}

  void Execute(storage::WriteContext& context) override {
    task_->Execute(context);
    pending_->timestamp = context.timestamp();
    pending_->was_executed = true;
    pending_->executed.Set();
  }

  void Finished(const absl::Status& status, Timestamp) override {
    if (!status.ok()) {
      absl::MutexLock lock(&failures_->mutex);
      failures_->first.Update(status);
    }
    if (!pending_->was_executed) {
      pending_->refused = status;
      pending_->executed.Set();
    }
    pending_->finished.Set();
  }

  size_t SizeBytes() const override { return task_->SizeBytes(); }
  bool IsEssential() const override { return task_->IsEssential(); }

 private:
  const std::shared_ptr<WriteTask> task_;
  const std::shared_ptr<Pending> pending_;
  const std::shared_ptr<Failures> failures_;
  const std::shared_ptr<base::ByteBudget> budget_;  // outlives its grant
  const base::ByteBudget::Grant grant_;             // until the task has ended
};

absl::Status CommandWrites::Submit(ShardService& service, std::shared_ptr<WriteTask> task,
                                   base::ByteBudget::Grant grant) {
  if (failures_ == nullptr) failures_ = std::make_shared<Failures>();
  auto pending = std::make_shared<Pending>();
  EVENKEEL_RETURN_IF_ERROR(service.store().Submit(std::make_unique<Op>(
      std::move(task), pending, failures_, service.write_budget(), std::move(grant))));
  newest_ = std::move(pending);
  return absl::OkStatus();
}

Awaitable<absl::Status> CommandWrites::Submit(const CommandContext& context,
                                              std::shared_ptr<WriteTask> task) {
  base::ByteBudget& budget = *context.service.write_budget();
  const size_t bytes = task->SizeBytes();
  base::ByteBudget::Grant grant = budget.TryAcquire(bytes);
  if (grant.bytes() == 0 && bytes > 0) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        grant, co_await budget.Acquire(bytes, context.deadline, context.cancelled));
  }
  co_return Submit(context.service, std::move(task), std::move(grant));
}

absl::Status CommandWrites::SubmitNow(ShardService& service, std::shared_ptr<WriteTask> task) {
  base::ByteBudget::Grant grant = service.write_budget()->Force(task->SizeBytes());
  return Submit(service, std::move(task), std::move(grant));
}

Awaitable<absl::Status> CommandWrites::Executed() const {
  EVENKEEL_CHECK(newest_ != nullptr);
  const auto pending = newest_;
  (void)co_await pending->executed.Wait();
  co_return pending->was_executed ? absl::OkStatus() : pending->refused;
}

Awaitable<absl::Status> CommandWrites::Durable() const {
  if (newest_ == nullptr) co_return absl::OkStatus();
  const auto pending = newest_;
  const auto failures = failures_;
  (void)co_await pending->finished.Wait();
  absl::MutexLock lock(&failures->mutex);
  co_return failures->first;
}

Timestamp CommandWrites::timestamp() const {
  EVENKEEL_CHECK(newest_ != nullptr);
  return newest_->timestamp;
}

Awaitable<absl::Status> SubmitAndWait(const CommandContext& context,
                                      std::shared_ptr<WriteTask> task) {
  CommandWrites writes;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await writes.Submit(context, std::move(task)));
  co_return co_await writes.Durable();
}

Awaitable<absl::Status> SubmitNowAndWait(ShardService& service, std::shared_ptr<WriteTask> task) {
  CommandWrites writes;
  EVENKEEL_CO_RETURN_IF_ERROR(writes.SubmitNow(service, std::move(task)));
  co_return co_await writes.Durable();
}

}  // namespace evenkeel::shard
