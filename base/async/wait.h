// Waiting inside coroutines: callbacks as awaitables, timers, task groups. The one helper for time
// limits.
//
// Asio 1.81 has no cancel_after: deadlines and cancellation of waits are made here, once. Every
// wait goes on in the executor of the coroutine that waits.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "base/async/cancellation.h"

namespace evenkeel::base {

// A one-shot event: Set by any thread, awaited by one coroutine at a time. The coroutine goes on in
// its own executor.
//
// Set may still be running in another thread when the waiter goes on and destroys the event. The
// waiter outlives its own Wait.
class Event {
 public:
  Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();
  void Set();  // any thread; more than once is harmless
  bool IsSet() const;
  // Waits for Set; one that has been set does not suspend. After an error the event may still be
  // set later and be waited for again.
  //
  // Errors   MaxTimeMSExpired at the deadline, Interrupted when cancelled.
  boost::asio::awaitable<absl::Status> Wait(absl::Time deadline = absl::InfiniteFuture(),
                                            CancellationToken cancelled = {});

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Waits for a while. Errors: Interrupted when cancelled.
boost::asio::awaitable<absl::Status> Sleep(absl::Duration time, CancellationToken cancelled = {});

// Goes on in a thread of `executor` (a pool for scans) and comes back by the same call with the old
// one.
boost::asio::awaitable<void> SwitchTo(boost::asio::any_io_executor executor);

// Runs all `tasks` at once in the caller's executor and waits for all of them. Tasks report by what
// they capture; the callables live until all have ended, so coroutines that they return may use
// their captures. A single task is awaited as it is. An exception of a task is passed on when all
// have ended.
boost::asio::awaitable<void> WhenAll(
    std::vector<std::function<boost::asio::awaitable<void>()>> tasks);

// Coroutines that belong to one owner: Stop cancels them and waits for their end. Any thread may
// Spawn and Cancel.
class TaskGroup {
 public:
  explicit TaskGroup(boost::asio::any_io_executor executor);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup();  // requires that Stop has been waited for, or that nothing runs

  // Starts a task, which gets the group's token; the callable lives until it ends. An exception of
  // the task is logged. Returns false, and starts nothing, once Stop has been called.
  bool Spawn(std::function<boost::asio::awaitable<void>(CancellationToken)> task);
  // The same in another executor than the group's.
  bool SpawnOn(boost::asio::any_io_executor executor,
               std::function<boost::asio::awaitable<void>(CancellationToken)> task);
  // Tells all tasks to end; does not wait.
  void Cancel();
  // Refuses new tasks, cancels the running ones and waits until all have ended. One caller at a
  // time.
  boost::asio::awaitable<void> Stop();
  // Waits for the end of all tasks without telling them to end, at most to the deadline. Errors:
  // MaxTimeMSExpired.
  boost::asio::awaitable<absl::Status> Join(absl::Time deadline);
  size_t running() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace evenkeel::base
