// The program: parses the command line and runs what it names.
#include <absl/synchronization/mutex.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <variant>

#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "cli/memory_keeper.h"
#include "cli/moves.h"
#include "cli/node.h"
#include "cli/options.h"

namespace evenkeel::cli {
namespace {

constexpr int kCannotStart = 1;
constexpr int kWrongOptions = 2;
constexpr absl::Duration kMemoryPeriod = absl::Seconds(5);

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

absl::Status Prepare(const LogChoice& choice) {
  base::LogOptions log;
  log.json = choice.format == "json";
  log.level = LevelOf(choice.level);
  return base::ConfigureLog(log);
}

absl::StatusOr<std::unique_ptr<Node>> StartRole(const Role& role) {
  if (const auto* router = std::get_if<RouterStartOptions>(&role)) return StartRouter(*router);
  if (const auto* shard = std::get_if<ShardStartOptions>(&role)) return StartShard(*shard);
  return StartCluster(std::get<StartOptions>(role));
}

const LogChoice& LogOf(const Role& role) {
  if (const auto* router = std::get_if<RouterStartOptions>(&role)) return router->log;
  if (const auto* shard = std::get_if<ShardStartOptions>(&role)) return shard->log;
  return std::get<StartOptions>(role).log;
}

int Run(const Role& role) {
  if (const auto* status = std::get_if<StatusOptions>(&role)) return ShowStatus(*status);
  if (const auto* moves = std::get_if<MovesOptions>(&role)) return ShowMoves(*moves);
  const LogChoice& log = LogOf(role);
  if (const absl::Status status = Prepare(log); !status.ok()) return Fail(status, kCannotStart);
  if (const char* points = std::getenv("EVENKEEL_FAIL_POINTS")) {
    if (const absl::Status status = base::ConfigureFailPoints(points); !status.ok())
      return Fail(status, kWrongOptions);
  }
  const MemoryKeeper memory(kMemoryPeriod);
  auto node = StartRole(role);
  if (!node.ok()) return Fail(node.status(), kCannotStart);
  const std::string address = (*node)->Address();
  std::cout << "evenkeel is ready: " << address << " (" << (*node)->Describe() << ")";
  if (!std::holds_alternative<ShardStartOptions>(role)) std::cout << ". Next: mongosh " << address;
  std::cout << std::endl;
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
  if (!parsed.role) return parsed.exit_code;
  return evenkeel::cli::Run(*parsed.role);
}
