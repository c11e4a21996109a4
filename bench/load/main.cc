// evenkeel_bench: a load generator for any server that speaks MongoDB's protocol.
//
// Subcommands: load, ping, read, insert, update, ycsb, log, goals. Exit codes: 0 done, 1 an
// operation or a goal's set-up failed, 2 bad options.
#include <fmt/format.h>
#include <mongoc/mongoc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/load/goals.h"
#include "bench/load/log_ceiling.h"
#include "bench/load/report.h"
#include "bench/load/workload.h"

namespace evenkeel::bench {
namespace {

struct Options {
  std::string uri = "mongodb://127.0.0.1:27017/";
  std::string database = "bench";
  int threads = 8;
  double seconds = 10;
  uint64_t record_count = 100'000;
  int batch = 1000;
  int collection_count = 1;
  RecordShape shape;
  std::string workloads = "ABCDEF";
  bool keep = false;
  std::string json;
  std::string disk_folder = ".";
  int group_count = 64;
  int server_pid = 0;
  uint64_t small_count = 100'000;
  uint64_t large_count = 1'000'000;
};

constexpr Mix kReads = {.name = "read", .read = 100, .keys = KeyOrder::kUniform};
constexpr Mix kInserts = {.name = "insert", .insert = 100, .keys = KeyOrder::kUniform};
constexpr Mix kUpdates = {.name = "update", .update = 100, .keys = KeyOrder::kUniform};

// Runs and prints; collects for --json.
class Program {
 public:
  explicit Program(const Options& options) : options_(options) {
    records_.uri = options.uri;
    records_.database = options.database;
    records_.collection_count = options.collection_count;
    records_.shape = options.shape;
    if (options.keep) records_.next = options.record_count;
  }

  absl::Status Ping() {
    return RunOne({.name = "ping", .threads = options_.threads, .duration = Duration()},
                  [this](int) { return MakePingWorker(options_.uri); });
  }

  absl::Status Load() {
    if (options_.keep) return absl::OkStatus();
    EVENKEEL_RETURN_IF_ERROR(PrepareCollections(records_));
    const absl::Status status =
        RunOne({.name = "load", .threads = options_.threads}, [this](int thread) {
          return MakeLoadWorker(records_, options_.record_count, options_.batch, thread);
        });
    records_.next = options_.record_count;
    return status;
  }

  absl::Status Mixed(const Mix& mix, const std::string& name) {
    return RunOne({.name = name, .threads = options_.threads, .duration = Duration()},
                  [this, &mix](int thread) { return MakeMixWorker(records_, mix, thread); });
  }

  absl::Status LoadAndMixed(const Mix& mix) {
    EVENKEEL_RETURN_IF_ERROR(Load());
    return Mixed(mix, std::string(mix.name));
  }

  absl::Status Ycsb() {
    EVENKEEL_RETURN_IF_ERROR(Load());
    for (const char letter : options_.workloads) {
      const Mix* mix = FindMix(std::string_view(&letter, 1));
      if (mix == nullptr) return Error(ErrorCode::kBadValue, "unknown workload '{}'", letter);
      EVENKEEL_RETURN_IF_ERROR(Mixed(*mix, fmt::format("YCSB {}", mix->name)));
    }
    return absl::OkStatus();
  }

  absl::Status LogCeiling() {
    const LogCeilingSpec spec{.folder = options_.disk_folder,
                              .group_count = options_.group_count,
                              .duration = Duration()};
    EVENKEEL_ASSIGN_OR_RETURN(const auto ceiling, MeasureLogCeiling(spec));
    fmt::print("raw log: {:.0f} documents/s of {} bytes, groups of {}, {:.0f} us each\n",
               ceiling.records_per_second, spec.record_bytes, spec.group_count,
               absl::ToDoubleMicroseconds(ceiling.group_mean));
    return absl::OkStatus();
  }

  absl::Status Goals() {
    const GoalsSpec spec{.uri = options_.uri,
                         .disk_folder = options_.disk_folder,
                         .server_pid = options_.server_pid,
                         .small_count = options_.small_count,
                         .large_count = options_.large_count,
                         .duration = Duration()};
    EVENKEEL_ASSIGN_OR_RETURN(GoalsOutcome outcome, MeasureGoals(spec));
    fmt::print("\n{}", TextOf(outcome.goals));
    results_ = std::move(outcome.results);
    return absl::OkStatus();
  }

  absl::Status WriteJson() const {
    if (options_.json.empty()) return absl::OkStatus();
    std::ofstream file(options_.json);
    file << JsonOf(results_);
    file.close();
    if (file) return absl::OkStatus();
    return Error(ErrorCode::kOperationFailed, "cannot write {}", options_.json);
  }

 private:
  absl::Duration Duration() const { return absl::Seconds(options_.seconds); }

  absl::Status RunOne(const RunSpec& spec, const WorkerFactory& make_worker) {
    EVENKEEL_ASSIGN_OR_RETURN(Result result, RunWorkers(spec, make_worker));
    fmt::print("{}", TextOf(result));
    std::fflush(stdout);
    const bool failed = result.error_count > 0;
    results_.push_back(std::move(result));
    if (!failed) return absl::OkStatus();
    return Error(ErrorCode::kOperationFailed, "{} operations failed", results_.back().error_count);
  }

  const Options options_;
  Records records_;
  std::vector<Result> results_;
};

void AddCommonOptions(CLI::App& app, Options& options) {
  app.add_option("--uri", options.uri, "the server")->capture_default_str();
  app.add_option("--database", options.database)->capture_default_str();
  app.add_option("--threads", options.threads, "clients at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--seconds", options.seconds, "length of each run")->capture_default_str();
  app.add_option("--records", options.record_count, "records to load")->capture_default_str();
  app.add_option("--batch", options.batch, "records per insertMany")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_option("--collections", options.collection_count, "collections to spread the load over")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app.add_option("--fields", options.shape.field_count, "fields per record")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--field-bytes", options.shape.field_bytes)
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_flag("--object-ids", options.shape.object_ids,
               "_ids that rise, as drivers make them, instead of scattered ones");
  app.add_flag("--keep", options.keep,
               "use the records that are there (see --records) instead of loading");
  app.add_option("--json", options.json, "also write the results to this file");
}

struct Subcommand {
  const char* name;
  const char* help;
  absl::Status (*run)(Program&);
};

constexpr Subcommand kSubcommands[] = {
    {"load", "load records by insertMany", [](Program& p) { return p.Load(); }},
    {"ping", "{ping: 1}: the ceiling of client and network", [](Program& p) { return p.Ping(); }},
    {"read", "load, then point reads", [](Program& p) { return p.LoadAndMixed(kReads); }},
    {"insert", "load, then point inserts", [](Program& p) { return p.LoadAndMixed(kInserts); }},
    {"update", "load, then point updates", [](Program& p) { return p.LoadAndMixed(kUpdates); }},
    {"ycsb", "load, then YCSB workloads", [](Program& p) { return p.Ycsb(); }},
    {"log", "the raw log on this disk", [](Program& p) { return p.LogCeiling(); }},
    {"goals", "the project's goals as ratios", [](Program& p) { return p.Goals(); }},
};

void AddSpecialOptions(CLI::App& app, const std::string& name, Options& options) {
  if (name == "ycsb") {
    app.add_option("--workloads", options.workloads, "letters of A to F, in this order")
        ->capture_default_str();
  }
  if (name == "log" || name == "goals") {
    app.add_option("--disk-folder", options.disk_folder, "on the disk of the server's data")
        ->capture_default_str();
  }
  if (name == "log")
    app.add_option("--group", options.group_count, "documents per sync")->capture_default_str();
  if (name == "goals") {
    app.add_option("--server-pid", options.server_pid, "process whose memory is measured");
    app.add_option("--small", options.small_count, "documents at the first measurement")
        ->capture_default_str();
    app.add_option("--large", options.large_count, "documents at the second")
        ->capture_default_str();
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Load generator for servers that speak MongoDB's protocol");
  app.require_subcommand(1);
  Options options;
  for (const Subcommand& subcommand : kSubcommands) {
    CLI::App* added = app.add_subcommand(subcommand.name, subcommand.help);
    AddCommonOptions(*added, options);
    AddSpecialOptions(*added, subcommand.name, options);
  }
  try {  // the option parser reports by exceptions
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  Program program(options);
  absl::Status status;
  for (const Subcommand& subcommand : kSubcommands) {
    if (app.got_subcommand(subcommand.name)) status = subcommand.run(program);
  }
  if (status.ok()) status = program.WriteJson();
  if (status.ok()) return 0;
  fmt::print(stderr, "evenkeel_bench: {}\n", MessageOf(status));
  return 1;
}

}  // namespace
}  // namespace evenkeel::bench

int main(int argc, char** argv) {
  mongoc_init();
  mongoc_log_set_handler(nullptr, nullptr);
  const int code = evenkeel::bench::Main(argc, argv);
  mongoc_cleanup();
  return code;
}
