// One network context: an Asio io_context and the one thread that runs it.
//
// What runs in a loop needs no strand: coroutines spawned on its executor share one thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <exception>
#include <memory>
#include <string>

namespace evenkeel::base {

// Starts its thread on construction. The destructor stops the loop and joins: what is then still
// suspended is destroyed, so owners stop their task groups first.
class EventLoop {
 public:
  explicit EventLoop(std::string name);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  boost::asio::any_io_executor executor() const;
  // True in the loop's own thread.
  bool IsCurrent() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The text of an exception from a library, for a log line or a status.
std::string What(std::exception_ptr error);

}  // namespace evenkeel::base
