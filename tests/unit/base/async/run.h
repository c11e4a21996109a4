// Runs a coroutine to its end in the calling thread, for tests.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <utility>

namespace evenkeel::base {

// Returns when the coroutine and everything it started on the context has ended. Its exception is
// thrown again.
inline void RunToEnd(boost::asio::io_context& context, boost::asio::awaitable<void> coroutine) {
  std::exception_ptr failure;
  boost::asio::co_spawn(context, std::move(coroutine),
                        [&failure](std::exception_ptr error) { failure = error; });
  context.restart();
  context.run();
  if (failure) std::rethrow_exception(failure);
}

inline void RunToEnd(boost::asio::awaitable<void> coroutine) {
  boost::asio::io_context context(1);
  RunToEnd(context, std::move(coroutine));
}

}  // namespace evenkeel::base
