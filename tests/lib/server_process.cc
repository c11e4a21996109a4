// Implements the server process of a test program.
#include "tests/lib/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace evenkeel::tests {
namespace {

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "server process: %s\n", what.c_str());
  std::exit(1);
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) Die(std::string(name) + " is not set; run this test through ctest");
  return value;
}

// Runs in the child: standard output into the pipe, the log into a file.
[[noreturn]] void Become(const std::vector<std::string>& arguments, int out,
                         const std::string& log) {
  dup2(out, STDOUT_FILENO);
  dup2(open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600), STDERR_FILENO);
  std::vector<char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  _exit(127);
}

}  // namespace

ServerProcess::ServerProcess(int shards) {
  std::string pattern = Environment("EVENKEEL_BUILD") + "/server-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) Die("cannot make " + pattern);
  folder_ = pattern;
  const std::vector<std::string> arguments = {Environment("EVENKEEL_BINARY"),
                                              "start",
                                              "--shards",
                                              std::to_string(shards),
                                              "--data",
                                              folder_ + "/data",
                                              "--port",
                                              "0"};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) Die("no pipe");
  pid_ = fork();
  if (pid_ == 0) Become(arguments, ends[1], folder_ + "/log");
  close(ends[1]);
  const std::string line = ReadReadyLine(ends[0]);
  close(ends[0]);
  const size_t start = line.find("mongodb://");
  if (start == std::string::npos) Die("no ready line but '" + line + "'; see " + folder_ + "/log");
  uri_ = line.substr(start, line.find(' ', start) - start);
}

std::string ServerProcess::ReadReadyLine(int fd) {
  std::string line;
  char c = 0;
  while (read(fd, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

int ServerProcess::Stop() {
  if (pid_ <= 0) return 0;
  kill(pid_, SIGTERM);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) kill(pid_, SIGKILL);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  std::filesystem::remove_all(folder_);
}

}  // namespace evenkeel::tests
