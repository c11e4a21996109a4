// Events with deadlines and cancellation, and what is built from them.
#include "base/async/wait.h"

#include <absl/base/thread_annotations.h>
#include <absl/functional/any_invocable.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/version.hpp>
#include <exception>
#include <optional>

#include "base/async/deadline_wheel.h"
#include "base/async/event_loop.h"
#include "base/check.h"
#include "base/log.h"
#include "base/status.h"

namespace evenkeel::base {

namespace asio = boost::asio;

namespace {

// Why a wait ended.
enum class Outcome : uint8_t { kNone, kSet, kDeadline, kCancelled };

// A wait longer than this is as good as endless.
constexpr absl::Duration kWaitMax = absl::Hours(24 * 365);
// Deadlines up to here get an exact timer, later ones the cheaper wheel.
constexpr absl::Duration kExactMax = absl::Milliseconds(200);

absl::Status Expired() {
  return MakeError(ErrorCode::kMaxTimeMSExpired, "operation exceeded time limit");
}

absl::Status Interrupted() {
  return MakeError(ErrorCode::kInterrupted, "operation was interrupted");
}

}  // namespace

// Invariant: each wait (generation) is completed exactly once, by whoever comes first.
struct Event::State final : DeadlineTarget {
  std::atomic<bool> set{false};
  absl::Mutex mutex;
  uint64_t generation ABSL_GUARDED_BY(mutex) = 0;
  Outcome outcome ABSL_GUARDED_BY(mutex) = Outcome::kNone;  // of this generation
  asio::any_io_executor executor ABSL_GUARDED_BY(mutex);
  absl::AnyInvocable<void(Outcome)> waiter ABSL_GUARDED_BY(mutex);

  // Begins a wait and returns its generation.
  uint64_t Begin() {
    absl::MutexLock lock(&mutex);
    outcome = set.load(std::memory_order_relaxed) ? Outcome::kSet : Outcome::kNone;
    return ++generation;
  }

  void DeadlinePassed(uint64_t which) override { Complete(which, Outcome::kDeadline); }

  // Ends the wait `which` if it has not ended; `which` 0 means the present one.
  void Complete(uint64_t which, Outcome why) {
    absl::AnyInvocable<void(Outcome)> wake;
    asio::any_io_executor where;
    {
      absl::MutexLock lock(&mutex);
      if (why == Outcome::kSet) set.store(true, std::memory_order_release);
      if (which != 0 && which != generation) return;
      if (outcome != Outcome::kNone) return;
      outcome = why;
      if (!waiter) return;
      wake = std::exchange(waiter, nullptr);
      where = std::move(executor);
    }
    asio::post(where, [wake = std::move(wake), why]() mutable { wake(why); });
  }

  // Registers the suspended coroutine; wakes it at once if the wait has ended in between.
  template <typename Handler>
  void Suspend(Handler handler, const asio::any_io_executor& where) {
    Outcome early;
    {
      absl::MutexLock lock(&mutex);
      if (outcome == Outcome::kNone) {
        executor = where;
        waiter = std::move(handler);
        return;
      }
      early = outcome;
    }
    asio::post(where, [handler = std::move(handler), early]() mutable { handler(early); });
  }
};

Event::Event() : state_(std::make_shared<State>()) {}

Event::~Event() = default;

void Event::Set() {
  const std::shared_ptr<State> state = state_;  // the waiter may destroy the event while this runs
  state->Complete(0, Outcome::kSet);
}

bool Event::IsSet() const { return state_->set.load(std::memory_order_acquire); }

asio::awaitable<absl::Status> Event::Wait(absl::Time deadline, CancellationToken cancelled) {
  if (IsSet()) co_return absl::OkStatus();
  if (cancelled.IsCancelled()) co_return Interrupted();
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const uint64_t generation = state_->Begin();

  std::optional<asio::steady_timer> timer;
  DeadlineWheel::Node node;
  if (deadline != absl::InfiniteFuture()) {
    const absl::Duration left = std::min(deadline - absl::Now(), kWaitMax);
    if (left <= absl::ZeroDuration()) co_return Expired();
    if (left > kExactMax) {
      DeadlineWheel::Instance().Add(node, left, state_, generation);
    } else {
      timer.emplace(executor, absl::ToChronoNanoseconds(left));
      timer->async_wait([state = state_, generation](boost::system::error_code error) {
        if (!error) state->Complete(generation, Outcome::kDeadline);
      });
    }
  }
  uint64_t cancel_id = 0;
  if (cancelled.CanBeCancelled()) {
    cancel_id = cancelled.OnCancel(
        [state = state_, generation] { state->Complete(generation, Outcome::kCancelled); });
  }

  State* state = state_.get();
  const Outcome outcome = co_await asio::async_initiate<const asio::deferred_t, void(Outcome)>(
      [state, &executor](auto handler) { state->Suspend(std::move(handler), executor); },
      asio::deferred);
  cancelled.Forget(cancel_id);
  switch (outcome) {
    case Outcome::kDeadline:
      co_return Expired();
    case Outcome::kCancelled:
      co_return Interrupted();
    default:
      co_return absl::OkStatus();
  }
}

asio::awaitable<absl::Status> Sleep(absl::Duration time, CancellationToken cancelled) {
  Event never;
  absl::Status status = co_await never.Wait(absl::Now() + time, std::move(cancelled));
  if (CodeOf(status) == ErrorCode::kMaxTimeMSExpired) co_return absl::OkStatus();
  co_return status;
}

asio::awaitable<void> SwitchTo(asio::any_io_executor executor) {
  co_await asio::post(asio::bind_executor(executor, asio::deferred));
}

namespace {

// What the tasks of one WhenAll share; it lives in the caller's frame until all have called Ended,
// and is not touched by their coroutines after that.
struct Gathering {
  std::atomic<size_t> left;
  Event done;
  absl::Mutex mutex;
  std::exception_ptr failure ABSL_GUARDED_BY(mutex);

  explicit Gathering(size_t count) : left(count) {}

  void Ended(std::exception_ptr error) {
    if (error) {
      absl::MutexLock lock(&mutex);
      if (!failure) failure = error;
    }
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) done.Set();
  }
};

asio::awaitable<void> RunOne(const std::function<asio::awaitable<void>()>& task, Gathering& all) {
  std::exception_ptr error;
  try {
    co_await task();
  } catch (...) {
    error = std::current_exception();
  }
  all.Ended(error);
}

// Runs a coroutine that does not throw, in the calling thread up to where it first suspends.
// co_spawn would do, but posts a completion that nobody waits for; each scatter over shards would
// pay for it.
asio::awaitable<asio::detail::awaitable_thread_entry_point> Root(asio::awaitable<void> coroutine) {
  co_await std::move(coroutine);
}

void Begin(const asio::any_io_executor& executor, asio::awaitable<void> coroutine) {
#if BOOST_VERSION == 108100
  using Handler = asio::detail::awaitable_handler<asio::any_io_executor, void>;
  Handler(Root(std::move(coroutine)), executor, asio::cancellation_slot(),
          asio::cancellation_state())
      .launch();
#else
  asio::co_spawn(executor, std::move(coroutine), asio::detached);
#endif
}

}  // namespace

asio::awaitable<void> WhenAll(std::vector<std::function<asio::awaitable<void>()>> tasks) {
  if (tasks.empty()) co_return;
  if (tasks.size() == 1) {
    co_await tasks.front()();
    co_return;
  }
  Gathering all(tasks.size());
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  for (size_t i = 1; i < tasks.size(); ++i) {
    Begin(executor, RunOne(tasks[i], all));
  }
  co_await RunOne(tasks.front(), all);
  // No deadline and no token: the tasks have theirs, and their frames point into this one. Often
  // all have ended by now.
  (void)co_await all.done.Wait();
  std::exception_ptr failure;
  {
    absl::MutexLock lock(&all.mutex);
    failure = all.failure;
  }
  if (failure) std::rethrow_exception(failure);
}

struct TaskGroup::State {
  explicit State(asio::any_io_executor where) : executor(std::move(where)) {}

  const asio::any_io_executor executor;
  CancellationSource cancel;
  mutable absl::Mutex mutex;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  size_t running ABSL_GUARDED_BY(mutex) = 0;
  std::shared_ptr<Event> empty
      ABSL_GUARDED_BY(mutex);  // set when the last task ends, while somebody waits

  void Ended() {
    absl::MutexLock lock(&mutex);
    if (--running == 0 && empty != nullptr) empty->Set();
  }

  // The event of the group's end, or null when nothing runs.
  std::shared_ptr<Event> Empty() {
    absl::MutexLock lock(&mutex);
    if (running == 0) return nullptr;
    if (empty == nullptr || empty->IsSet()) empty = std::make_shared<Event>();
    return empty;
  }
};

namespace {

asio::awaitable<void> RunTask(std::function<asio::awaitable<void>(CancellationToken)> task,
                              CancellationToken token) {
  co_await task(std::move(token));
}

}  // namespace

TaskGroup::TaskGroup(asio::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

TaskGroup::~TaskGroup() { EVENKEEL_CHECK(running() == 0); }

bool TaskGroup::Spawn(std::function<asio::awaitable<void>(CancellationToken)> task) {
  return SpawnOn(state_->executor, std::move(task));
}

bool TaskGroup::SpawnOn(asio::any_io_executor executor,
                        std::function<asio::awaitable<void>(CancellationToken)> task) {
  {
    absl::MutexLock lock(&state_->mutex);
    if (state_->stopping) return false;
    ++state_->running;
  }
  asio::co_spawn(executor, RunTask(std::move(task), state_->cancel.token()),
                 [state = state_](std::exception_ptr error) {
                   if (error)
                     LogError("async", "a task ended with an exception", {{"what", What(error)}});
                   state->Ended();
                 });
  return true;
}

void TaskGroup::Cancel() { state_->cancel.Cancel(); }

asio::awaitable<void> TaskGroup::Stop() {
  {
    absl::MutexLock lock(&state_->mutex);
    state_->stopping = true;
  }
  state_->cancel.Cancel();
  (void)co_await Join(absl::InfiniteFuture());
}

asio::awaitable<absl::Status> TaskGroup::Join(absl::Time deadline) {
  const std::shared_ptr<State> state = state_;
  while (const std::shared_ptr<Event> empty = state->Empty()) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await empty->Wait(deadline));
  }
  co_return absl::OkStatus();
}

size_t TaskGroup::running() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->running;
}

}  // namespace evenkeel::base
