// Implements the named, joining thread.
#include "base/thread.h"

#include <pthread.h>

#include <utility>

namespace evenkeel::base {

namespace {
constexpr size_t kThreadNameBytesMax = 15;  // Linux shows no more
}  // namespace

Thread::Thread(std::string name, std::function<void()> body)
    : thread_([name = name.substr(0, kThreadNameBytesMax), body = std::move(body)] {
        pthread_setname_np(pthread_self(), name.c_str());
        body();
      }) {}

Thread::~Thread() { Join(); }

void Thread::Join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace evenkeel::base
