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
     std::shared_ptr<Failures> failures)
      : task_(std::move(task)), pending_(std::move(pending)), failures_(std::move(failures)) {}

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
};

absl::Status CommandWrites::Submit(ShardService& service, std::shared_ptr<WriteTask> task) {
  if (failures_ == nullptr) failures_ = std::make_shared<Failures>();
  auto pending = std::make_shared<Pending>();
  EVENKEEL_RETURN_IF_ERROR(
      service.store().Submit(std::make_unique<Op>(std::move(task), pending, failures_)));
  newest_ = std::move(pending);
  return absl::OkStatus();
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

Awaitable<absl::Status> SubmitAndWait(ShardService& service, std::shared_ptr<WriteTask> task) {
  CommandWrites writes;
  EVENKEEL_CO_RETURN_IF_ERROR(writes.Submit(service, std::move(task)));
  co_return co_await writes.Durable();
}

}  // namespace evenkeel::shard
