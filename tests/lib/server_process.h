// Starts a real evenkeel process for a test program and ends it with the object.
//
// The binary is named by the environment variable EVENKEEL_BINARY. Data lie in a new folder below
// EVENKEEL_BUILD, which is removed at the end.
#pragma once

#include <sys/types.h>

#include <string>

namespace evenkeel::tests {

class ServerProcess {
 public:
  // Starts a server of `shards` shards on a free port and waits for its ready line. Ends the
  // program when that fails.
  explicit ServerProcess(int shards);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& uri() const { return uri_; }
  // SIGTERM, then waits. Returns the exit code, -1 when a signal ended the process.
  int Stop();

 private:
  std::string ReadReadyLine(int fd);

  std::string folder_;
  std::string uri_;
  pid_t pid_ = -1;
};

}  // namespace evenkeel::tests
