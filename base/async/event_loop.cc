// Runs an io_context on a named thread and survives exceptions of handlers.
#include "base/async/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/log.h"
#include "base/thread.h"

namespace evenkeel::base {

struct EventLoop::State {
  // The hint tells Asio that one thread runs the loop; others may still post.
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work =
      boost::asio::make_work_guard(context);
  std::optional<Thread> thread;

  void Run() {
    for (;;) {
      try {
        context.run();
        return;
      } catch (...) {
        LogError("async", "an event handler ended with an exception",
                 {{"what", What(std::current_exception())}});
      }
    }
  }
};

EventLoop::EventLoop(std::string name) : state_(std::make_unique<State>()) {
  state_->thread.emplace(std::move(name), [state = state_.get()] { state->Run(); });
}

EventLoop::~EventLoop() {
  state_->context.stop();
  state_->thread->Join();
}

boost::asio::any_io_executor EventLoop::executor() const { return state_->context.get_executor(); }

bool EventLoop::IsCurrent() const {
  return state_->context.get_executor().running_in_this_thread();
}

std::string What(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

}  // namespace evenkeel::base
