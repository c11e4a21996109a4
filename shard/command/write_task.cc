// Bridges the writer's threads to waiting coroutines.
#include "shard/command/write_task.h"

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "shard/commit/write_contexts.h"

namespace evenkeel::shard {
namespace {

// A write without a deadline of its own waits so long for a key that a transaction holds.
constexpr absl::Duration kKeyWaitMax = absl::Seconds(30);
// What a task of a transaction may write to the log: flags of indexes.
constexpr size_t kLayerTaskBytes = 1024;

// What a wait that has ended so means to the writer: whoever sets no deadline of its own gave up.
absl::Status GaveUp(const absl::Status& status, bool own_deadline) {
  const bool own = own_deadline || CodeOf(status) == ErrorCode::kInterrupted;
  return status.ok() || own ? status : WriteConflict();
}

}  // namespace

// One task on its way. The members are written before the event that tells of them is set.
struct CommandWrites::Pending {
  base::Event executed;
  base::Event finished;
  bool was_executed = false;
  absl::Status refused;                  // why it was not executed
  std::shared_ptr<Transaction> blocker;  // it was taken back, and waits for this one
  Intents::Place place;
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
     std::shared_ptr<Failures> failures, const Caller& caller, base::ByteBudget::Grant grant)
      : task_(std::move(task)),
        pending_(std::move(pending)),
        failures_(std::move(failures)),
        transaction_(caller.transaction),
        intents_(&caller.service->transactions().intents()),
        budget_(caller.service->write_budget()),
        grant_(std::move(grant)) {}

  void Execute(storage::WriteContext& context) override {
    if (transaction_ != nullptr) {
      ExecuteInLayer(context);
    } else if (intents_->empty()) {
      ExecutePlain(context);
    } else {
      ExecuteOffKeys(context);
    }
    pending_->executed.Set();
  }

  void Finished(const absl::Status& status, Timestamp) override {
    if (!status.ok()) {
      absl::MutexLock lock(&failures_->mutex);
      failures_->first.Update(status);
    }
    if (!pending_->executed.IsSet()) {
      pending_->refused = status;
      pending_->executed.Set();
    }
    pending_->finished.Set();
  }

  size_t SizeBytes() const override {
    return transaction_ != nullptr ? kLayerTaskBytes : task_->SizeBytes();
  }
  bool IsEssential() const override { return task_->IsEssential(); }

 private:
  void ExecutePlain(storage::WriteContext& context) {
    task_->Execute(context);
    pending_->timestamp = context.timestamp();
    pending_->was_executed = true;
  }

  void ExecuteOffKeys(storage::WriteContext& context) {
    PlainContext plain(context, intents_);
    const size_t mark = context.Mark();
    ExecutePlain(plain);
    if (plain.blocker() == nullptr) return;
    context.RollBackTo(mark);
    pending_->was_executed = false;
    pending_->blocker = plain.blocker();
    pending_->place = plain.TakePlace();
  }

  void ExecuteInLayer(storage::WriteContext& context) {
    if (transaction_->state != TransactionState::kActive) {
      pending_->refused = MakeError(ErrorCode::kNoSuchTransaction,
                                    "the transaction has ended while a statement was under way");
      return;
    }
    LayerContext layer(context, intents_, transaction_);
    const size_t mark = layer.Mark();
    task_->Execute(layer);
    pending_->was_executed = !layer.conflict() && layer.blocker() == nullptr;
    if (pending_->was_executed) return;
    layer.RollBackTo(mark);
    pending_->blocker = layer.blocker();
    if (layer.conflict()) pending_->refused = WriteConflict();
  }

  const std::shared_ptr<WriteTask> task_;
  const std::shared_ptr<Pending> pending_;
  const std::shared_ptr<Failures> failures_;
  const std::shared_ptr<Transaction> transaction_;
  Intents* const intents_;
  const std::shared_ptr<base::ByteBudget> budget_;  // outlives its grant
  const base::ByteBudget::Grant grant_;             // until the task has ended
};

absl::Status CommandWrites::SubmitNewest(base::ByteBudget::Grant grant) {
  if (failures_ == nullptr) failures_ = std::make_shared<Failures>();
  auto pending = std::make_shared<Pending>();
  EVENKEEL_RETURN_IF_ERROR(caller_.service->store().Submit(
      std::make_unique<Op>(task_, pending, failures_, caller_, std::move(grant))));
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
  caller_ = {&context.service, context.deadline, context.cancelled, context.transaction};
  task_ = std::move(task);
  if (!std::exchange(goes_on_, false))
    keys_give_up_ = task_->IsPatient() ? absl::InfiniteFuture() : absl::Now() + kKeyWaitMax;
  co_return SubmitNewest(std::move(grant));
}

absl::Status CommandWrites::SubmitNow(ShardService& service, std::shared_ptr<WriteTask> task) {
  base::ByteBudget::Grant grant = service.write_budget()->Force(task->SizeBytes());
  caller_ = {&service, absl::InfiniteFuture(), {}, nullptr};
  task_ = std::move(task);
  keys_give_up_ = absl::InfiniteFuture();
  return SubmitNewest(std::move(grant));
}

Awaitable<absl::Status> CommandWrites::AwaitHolder() {
  const auto blocked = newest_;
  const absl::Time give_up = std::min(caller_.deadline, keys_give_up_);
  const absl::Status status = co_await blocked->blocker->off_keys.Wait(give_up, caller_.cancelled);
  co_return GaveUp(status, give_up == caller_.deadline);
}

// In line for the key, then executes the task again.
Awaitable<absl::Status> CommandWrites::WaitForKeys() {
  const auto blocked = newest_;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await AwaitHolder());
  // Many may have waited: together they are more than the store takes at once.
  const absl::Time give_up = std::min(caller_.deadline, keys_give_up_);
  auto grant = co_await caller_.service->write_budget()->Acquire(task_->SizeBytes(), give_up,
                                                                 caller_.cancelled);
  if (!grant.ok()) co_return GaveUp(grant.status(), give_up == caller_.deadline);
  // Executed again before the place is dropped: no transaction takes the key in between.
  EVENKEEL_CO_RETURN_IF_ERROR(SubmitNewest(*std::move(grant)));
  const auto again = newest_;
  (void)co_await again->executed.Wait();
  co_return absl::OkStatus();
}

Awaitable<bool> CommandWrites::MeetsHeldKey() {
  const auto pending = newest_;
  (void)co_await pending->executed.Wait();
  co_return pending->blocker != nullptr;
}

Awaitable<absl::StatusOr<Intents::Place>> CommandWrites::AwaitKey() {
  const auto blocked = newest_;
  const absl::Status status = co_await AwaitHolder();
  blocked->blocker = nullptr;
  Intents::Place place = std::move(blocked->place);
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  goes_on_ = true;
  co_return place;
}

Awaitable<absl::Status> CommandWrites::Executed() {
  EVENKEEL_CHECK(newest_ != nullptr);
  {
    const auto pending = newest_;
    (void)co_await pending->executed.Wait();
  }
  while (newest_->blocker != nullptr) {
    const absl::Status waited = co_await WaitForKeys();
    if (waited.ok()) continue;
    // For good: what the task refers to may not outlive the answer.
    newest_->blocker = nullptr;
    newest_->place = nullptr;
    newest_->refused = waited;
  }
  co_return newest_->was_executed ? absl::OkStatus() : newest_->refused;
}

Awaitable<absl::Status> CommandWrites::Durable() {
  if (newest_ == nullptr) co_return absl::OkStatus();
  (void)co_await Executed();
  if (caller_.transaction != nullptr) co_return absl::OkStatus();
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
  EVENKEEL_CO_RETURN_IF_ERROR(co_await writes.Executed());
  co_return co_await writes.Durable();
}

Awaitable<absl::Status> SubmitNowAndWait(ShardService& service, std::shared_ptr<WriteTask> task) {
  CommandWrites writes;
  EVENKEEL_CO_RETURN_IF_ERROR(writes.SubmitNow(service, std::move(task)));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await writes.Executed());
  co_return co_await writes.Durable();
}

}  // namespace evenkeel::shard
