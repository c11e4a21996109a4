// Implements the run over all speed goals.
#include "bench/load/goals.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <utility>

#include "base/status.h"
#include "bench/load/log_ceiling.h"
#include "bench/load/report.h"
#include "bench/load/workload.h"

namespace evenkeel::bench {
namespace {

constexpr int kReadThreads = 8;
constexpr int kInsertThreads = 32;
constexpr double kMemoryGoalBytes = 800e6;

constexpr Mix kPointReads = {.name = "point reads", .read = 100, .keys = KeyOrder::kUniform};
constexpr Mix kPointInserts = {.name = "point inserts", .insert = 100, .keys = KeyOrder::kUniform};
constexpr Mix kPointUpdates = {.name = "point updates", .update = 100, .keys = KeyOrder::kUniform};

// The times of operations at one number of documents.
struct Times {
  absl::Duration read, update, insert;
};

class GoalsRun {
 public:
  explicit GoalsRun(const GoalsSpec& spec) : spec_(spec) { records_.uri = spec.uri; }

  absl::StatusOr<GoalsOutcome> Measure() {
    EVENKEEL_ASSIGN_OR_RETURN(const LogCeiling log,
                              MeasureLogCeiling({.folder = spec_.disk_folder}));
    fmt::print("raw log ceiling: {:.0f} documents/s of 1 KB, groups of 64, {:.0f} us each\n",
               log.records_per_second, absl::ToDoubleMicroseconds(log.group_mean));
    EVENKEEL_RETURN_IF_ERROR(PrepareCollections(records_));
    EVENKEEL_RETURN_IF_ERROR(Load(spec_.small_count).status());
    EVENKEEL_ASSIGN_OR_RETURN(const Times small, MeasurePoints());
    EVENKEEL_ASSIGN_OR_RETURN(const Result load, Load(spec_.large_count));
    AddLoadGoal(load, log);
    EVENKEEL_RETURN_IF_ERROR(AddMemoryGoal());
    EVENKEEL_ASSIGN_OR_RETURN(const Times large, MeasurePoints());
    AddGrowthGoal("read", small.read, large.read);
    AddGrowthGoal("update", small.update, large.update);
    AddGrowthGoal("insert", small.insert, large.insert);
    return std::move(outcome_);
  }

 private:
  absl::StatusOr<Result> RunOne(const RunSpec& run, const WorkerFactory& make_worker) {
    EVENKEEL_ASSIGN_OR_RETURN(Result result, RunWorkers(run, make_worker));
    fmt::print("{}", TextOf(result));
    std::fflush(stdout);
    if (result.error_count > 0) {
      return Error(ErrorCode::kOperationFailed, "{} failed: {}", run.name, result.first_error);
    }
    outcome_.results.push_back(result);
    return result;
  }

  absl::StatusOr<Result> Load(uint64_t end) {
    const RunSpec run{.name = fmt::format("load to {}", end), .threads = spec_.load_threads};
    loaded_before_ = records_.next;
    absl::StatusOr<Result> result = RunOne(
        run, [&](int thread) { return MakeLoadWorker(records_, end, spec_.load_batch, thread); });
    records_.next = end;
    return result;
  }

  // One figure beside its ceiling: both measured twice, in turn, so that a change of the machine's
  // pace hits both.
  struct Pair {
    double ping = 0, operation = 0;
    absl::Duration mean;
  };
  absl::StatusOr<Pair> MeasureBesidePing(const Mix& mix, int threads, Operation operation) {
    Pair pair;
    for (int half = 0; half < 2; ++half) {
      const RunSpec ping_run{.name = "ping", .threads = threads, .duration = spec_.duration / 2};
      EVENKEEL_ASSIGN_OR_RETURN(const Result ping,
                                RunOne(ping_run, [&](int) { return MakePingWorker(spec_.uri); }));
      const RunSpec mix_run{
          .name = std::string(mix.name), .threads = threads, .duration = spec_.duration / 2};
      EVENKEEL_ASSIGN_OR_RETURN(const Result result, RunOne(mix_run, [&](int thread) {
                                  return MakeMixWorker(records_, mix, thread + 1000 * half);
                                }));
      pair.ping += ping.PerSecond() / 2;
      pair.operation += result.PerSecond() / 2;
      pair.mean += result.Mean(operation) / 2;
    }
    return pair;
  }

  // Point operations at the present number of documents; the ratios to ping count as goals at the
  // smaller number.
  absl::StatusOr<Times> MeasurePoints() {
    EVENKEEL_ASSIGN_OR_RETURN(const Pair reads,
                              MeasureBesidePing(kPointReads, kReadThreads, Operation::kRead));
    EVENKEEL_ASSIGN_OR_RETURN(const Pair updates,
                              MeasureBesidePing(kPointUpdates, kInsertThreads, Operation::kUpdate));
    EVENKEEL_ASSIGN_OR_RETURN(const Pair inserts,
                              MeasureBesidePing(kPointInserts, kInsertThreads, Operation::kInsert));
    const std::string at = fmt::format("at {} documents", records_.next.load());
    AddRatioGoal(fmt::format("point reads, 8 threads, {}", at), 0.7, reads);
    AddRatioGoal(fmt::format("durable point inserts, 32 threads, {}", at), 0.4, inserts);
    return Times{.read = reads.mean, .update = updates.mean, .insert = inserts.mean};
  }

  void AddRatioGoal(std::string name, double wanted, const Pair& pair) {
    const double ratio = pair.operation / pair.ping;
    outcome_.goals.push_back(
        {.name = std::move(name),
         .wanted = fmt::format(">= {:.2f} x ping", wanted),
         .measured = ratio,
         .figures = fmt::format("{:.0f}/s to {:.0f}/s", pair.operation, pair.ping),
         .reached = ratio >= wanted});
  }

  void AddLoadGoal(const Result& load, const LogCeiling& log) {
    const double loaded = static_cast<double>(spec_.large_count - loaded_before_);
    const double rate = loaded / absl::ToDoubleSeconds(load.elapsed);
    const double ratio = rate / log.records_per_second;
    outcome_.goals.push_back(
        {.name = "durable load of 1 KB documents",
         .wanted = ">= 0.25 x raw log",
         .measured = ratio,
         .figures = fmt::format("{:.0f}/s to {:.0f}/s", rate, log.records_per_second),
         .reached = ratio >= 0.25});
  }

  absl::Status AddMemoryGoal() {
    if (spec_.server_pid == 0) return absl::OkStatus();
    EVENKEEL_ASSIGN_OR_RETURN(const uint64_t bytes, AnonymousBytes(spec_.server_pid));
    const auto measured = static_cast<double>(bytes);
    outcome_.goals.push_back(
        {.name = fmt::format("anonymous memory after loading {} documents", spec_.large_count),
         .wanted = "<= 800 MB",
         .measured = measured / 1e6,
         .figures = "MB, RssAnon",
         .reached = measured <= kMemoryGoalBytes});
    return absl::OkStatus();
  }

  void AddGrowthGoal(std::string_view operation, absl::Duration small, absl::Duration large) {
    const double ratio = absl::FDivDuration(large, small);
    outcome_.goals.push_back(
        {.name = fmt::format("time per {} at {} to {} documents", operation, spec_.large_count,
                             spec_.small_count),
         .wanted = "< 1.33",
         .measured = ratio,
         .figures = fmt::format("{:.0f} us to {:.0f} us", absl::ToDoubleMicroseconds(large),
                                absl::ToDoubleMicroseconds(small)),
         .reached = ratio < 4.0 / 3});
  }

  const GoalsSpec spec_;
  Records records_;
  uint64_t loaded_before_ = 0;  // documents there when the newest load began
  GoalsOutcome outcome_;
};

}  // namespace

absl::StatusOr<GoalsOutcome> MeasureGoals(const GoalsSpec& spec) {
  return GoalsRun(spec).Measure();
}

std::string TextOf(const std::vector<Goal>& goals) {
  std::string text =
      fmt::format("{:<58} {:>18} {:>10}   {}\n", "goal", "wanted", "measured", "figures");
  for (const Goal& goal : goals) {
    text += fmt::format("{:<58} {:>18} {:>10.2f}   {}{}\n", goal.name, goal.wanted, goal.measured,
                        goal.figures, goal.reached ? "" : "   NOT REACHED");
  }
  return text;
}

absl::StatusOr<uint64_t> AnonymousBytes(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    absl::string_view rest = line;
    uint64_t kilobytes = 0;
    if (!absl::ConsumePrefix(&rest, "RssAnon:") || !absl::ConsumeSuffix(&rest, "kB")) continue;
    if (absl::SimpleAtoi(rest, &kilobytes)) return kilobytes * 1024;
  }
  return Error(ErrorCode::kOperationFailed, "no RssAnon of process {}", pid);
}

}  // namespace evenkeel::bench
