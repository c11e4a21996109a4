// A named thread that joins on destruction: the only door to std::thread.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace evenkeel::base {

// Runs `body` on a thread called `name` (at most 15 bytes shown by the system). The destructor
// joins; the owner tells the body to end by its own means before that.
class Thread {
 public:
  Thread() = default;
  Thread(std::string name, std::function<void()> body);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&&) = delete;
  ~Thread();
  // Waits for the body to end. Harmless when it was joined before.
  void Join();

 private:
  std::thread thread_;
};

}  // namespace evenkeel::base
