// The program: parses the command line and runs what it names.
#include <absl/synchronization/mutex.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "cli/node.h"
#include "cli/options.h"

namespace evenkeel::cli {
namespace {

constexpr int kCannotStart = 1;
constexpr int kWrongOptions = 2;

base::LogLevel LevelOf(const std::string& name) {
  if (name == "debug") return base::LogLevel::kDebug;
  if (name == "warning") return base::LogLevel::kWarning;
  if (name == "error") return base::LogLevel::kError;
  return base::LogLevel::kInfo;
}

int Fail(const absl::Status& status, int exit_code) {
  std::cerr << "evenkeel: " << MessageOf(status) << "\n";
  return exit_code;
}

int RunStart(const StartOptions& options) {
  base::LogOptions log;
  log.json = options.log_format == "json";
  log.level = LevelOf(options.log_level);
  if (const absl::Status status = base::ConfigureLog(log); !status.ok())
    return Fail(status, kCannotStart);
  if (const char* points = std::getenv("EVENKEEL_FAIL_POINTS")) {
    if (const absl::Status status = base::ConfigureFailPoints(points); !status.ok())
      return Fail(status, kWrongOptions);
  }
  auto node = Node::Start(options);
  if (!node.ok()) return Fail(node.status(), kCannotStart);
  const std::string uri =
      "mongodb://" + options.bind.front() + ":" + std::to_string((*node)->port()) + "/";
  std::cout << "evenkeel is ready: " << uri << " (" << (*node)->shard_count() << " shards, data in "
            << options.data << "). Next: mongosh " << uri << std::endl;
  (*node)->WaitForSignal();
  if (const absl::Status status = (*node)->Stop(); !status.ok()) return Fail(status, kCannotStart);
  return 0;
}

}  // namespace
}  // namespace evenkeel::cli

int main(int argc, char** argv) {
#ifdef NDEBUG
  // The distribution's library looks for cycles at every lock unless it is told not to.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
  const evenkeel::cli::ParsedOptions parsed = evenkeel::cli::ParseOptions(argc, argv);
  if (!parsed.start) return parsed.exit_code;
  return evenkeel::cli::RunStart(*parsed.start);
}
