// Options by CLI11; a YAML file gives the same options by the same names.
#include "cli/options.h"

#include <absl/strings/ascii.h>
#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "base/bson/builder.h"

namespace evenkeel::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 stopped cleanly, 1 could not start, 2 wrong options, 70 the disk failed while "
    "running.\n"
    "The configuration file is YAML with the names of the options of `start`, for example:\n"
    "  shards: 3\n  data: /var/lib/evenkeel\n  port: 27017\n  bind: [127.0.0.1]";

// The map `tls:` has the names of MongoDB's net.tls: `mode` is the option tlsMode.
void AddTlsItems(const YAML::Node& map, std::vector<CLI::ConfigItem>* found) {
  for (const auto& entry : map) {
    CLI::ConfigItem item;
    item.parents = {"start"};
    item.name = entry.first.as<std::string>();
    item.name[0] = absl::ascii_toupper(static_cast<unsigned char>(item.name[0]));
    item.name = "tls" + item.name;
    item.inputs.push_back(entry.second.as<std::string>());
    found->push_back(std::move(item));
  }
}

// Reads YAML for CLI11: every top-level key is an option of `start`; a list gives several values.
class YamlConfig final : public CLI::Config {
 public:
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    YAML::Node root;
    try {
      root = YAML::Load(input);
    } catch (const YAML::Exception& error) {
      throw CLI::ConfigError(std::string("the configuration file is not YAML: ") + error.what());
    }
    if (root.IsNull()) return {};
    if (!root.IsMap())
      throw CLI::ConfigError("the configuration file must hold `option: value` lines");
    std::vector<CLI::ConfigItem> found;
    for (const auto& entry : root) {
      CLI::ConfigItem item;
      item.parents = {"start"};
      item.name = entry.first.as<std::string>();
      if (item.name == "tls" && entry.second.IsMap()) {
        AddTlsItems(entry.second, &found);
        continue;
      }
      if (entry.second.IsSequence()) {
        for (const auto& value : entry.second) item.inputs.push_back(value.as<std::string>());
      } else if (entry.second.IsScalar()) {
        item.inputs.push_back(entry.second.as<std::string>());
      } else {
        throw CLI::ConfigError("configuration file, line " +
                               std::to_string(entry.first.Mark().line + 1) + ": '" + item.name +
                               "' must be a value or a list");
      }
      found.push_back(std::move(item));
    }
    return found;
  }
};

void AddProcessOptions(CLI::App* app, ProcessOptions* process, LogChoice* log) {
  app->add_option("--port", process->port, "port to listen on; 0 picks a free one")
      ->capture_default_str();
  app->add_option("--log-format", log->format, "form of the log lines on standard error")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app->add_option("--log-level", log->level, "least severity that is logged")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app->add_option("--pool-threads", process->pool_threads,
                  "threads for scans [one per core, 2 at least]")
      ->check(CLI::Range(0, 256));
  app->add_option("--spill-path", process->queries.spill_path,
                  "folder for what sorts and groups put on disk [spill, with the data; of a router "
                  "the system's folder for temporary files]");
  app->add_option("--setParameter", process->queries.parameters,
                  "NAME=VALUE: memory limits of queries and the like (docs/operations.md)");
  app->add_option("--connections", process->connections, "most connections at a time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

void AddClientOptions(CLI::App* app, ProcessOptions* process, bool* no_auth) {
  AddTlsOptions(app, &process->tls);
  app->add_option("--bind", process->bind,
                  "addresses to listen on; others than loopback need --no-auth")
      ->capture_default_str();
  app->add_flag("--no-auth", *no_auth, "accept clients from other hosts without authentication");
  app->add_flag("--enable-test-commands", process->test_commands,
                "let clients set fail points, which make commands fail and processes end");
}

void AddDataOptions(CLI::App* app, std::string* data, uint64_t* map_size_gb) {
  app->add_option("--data", *data, "folder of the data, made if it is missing")
      ->capture_default_str();
  app->add_option("--map-size-gb", *map_size_gb, "address space for each shard's file, in GB")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
}

CLI::App* AddStart(CLI::App& app, StartOptions* options) {
  CLI::App* start =
      app.add_subcommand("start", "runs a whole cluster in this process: a router and its shards");
  start
      ->add_option("--shards", options->shards,
                   "number of embedded shards [what the data hold; 3 for new data]")
      ->check(CLI::Range(1, 64));
  AddDataOptions(start, &options->data, &options->map_size_gb);
  AddProcessOptions(start, &options->process, &options->log);
  AddClientOptions(start, &options->process, &options->no_auth);
  start->footer("Also: --config FILE reads these options from a YAML file; the command line wins.");
  start->fallthrough();  // --config may stand behind `start`
  return start;
}

CLI::App* AddRouter(CLI::App& app, RouterStartOptions* options) {
  CLI::App* router =
      app.add_subcommand("router", "runs a router of a cluster whose shards are other processes");
  router->add_option("--cluster", options->cluster, "the cluster file (docs/operations.md)")
      ->required();
  AddProcessOptions(router, &options->process, &options->log);
  AddClientOptions(router, &options->process, &options->no_auth);
  return router;
}

CLI::App* AddShard(CLI::App& app, ShardStartOptions* options) {
  CLI::App* shard = app.add_subcommand("shard", "runs one shard of a cluster");
  shard->add_option("--cluster", options->cluster, "the cluster file (docs/operations.md)")
      ->required();
  shard->add_option("--id", options->id, "which of its shards this is, for example shard0")
      ->required();
  AddDataOptions(shard, &options->data, &options->map_size_gb);
  AddProcessOptions(shard, &options->process, &options->log);
  shard->get_option("--port")->default_str("")->description(
      "port to listen on [the one in the cluster file]");
  options->process.bind.clear();
  shard->add_option("--bind", options->process.bind,
                    "addresses to listen on [the one in the cluster file]");
  return shard;
}

bson::Document CommandLine(int argc, const char* const* argv, const ProcessOptions& process,
                           const std::string& data) {
  bson::Builder out;
  out.OpenArray("argv");
  bson::ArrayAppender array(out);
  for (int i = 0; i < argc; ++i) array.Add(argv[i]);
  out.Close().OpenDocument("parsed").OpenDocument("net").Append("port",
                                                                static_cast<int32_t>(process.port));
  std::string bind;
  for (const std::string& address : process.bind) bind += (bind.empty() ? "" : ",") + address;
  out.Append("bindIp", bind);
  AppendTlsChoice(out, process.tls);
  out.Close();
  if (!data.empty()) out.OpenDocument("storage").Append("dbPath", data).Close();
  out.Close();
  return out.Finish();
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "localhost" || address == "::1";
}

// Prints what is wrong with how clients are let in, and returns false.
bool MayServe(const ProcessOptions& process, bool no_auth) {
  if (const std::string wrong = CheckTlsChoice(process.tls); !wrong.empty()) {
    std::cerr << "evenkeel: " << wrong << "\n";
    return false;
  }
  for (const std::string& address : process.bind) {
    if (IsLoopback(address) || no_auth) continue;
    std::cerr << "evenkeel: --bind " << address
              << " lets other hosts in, and there is no authentication yet: add --no-auth to say "
                 "that this is meant\n";
    return false;
  }
  return true;
}

}  // namespace

ParsedOptions ParseOptions(int argc, const char* const* argv) {
  constexpr int kWrongOptions = 2;
  CLI::App app(
      "Evenkeel: a sharded document database that MongoDB's drivers and mongosh use unchanged");
  app.name("evenkeel");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("evenkeel ") + EVENKEEL_VERSION);
  app.require_subcommand(1);
  StartOptions start;
  RouterStartOptions router;
  ShardStartOptions shard;
  AddStart(app, &start);
  const CLI::App* router_app = AddRouter(app, &router);
  const CLI::App* shard_app = AddShard(app, &shard);
  app.config_formatter(std::make_shared<YamlConfig>());
  app.set_config("--config", "", "a YAML file with options of `start`; the command line wins");
  app.allow_config_extras(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return {std::nullopt, code == 0 ? 0 : kWrongOptions};
  }
  if (shard_app->parsed()) {
    shard.port_given = shard_app->get_option("--port")->count() > 0;
    return {std::move(shard), 0};
  }
  if (router_app->parsed()) {
    if (!MayServe(router.process, router.no_auth)) return {std::nullopt, kWrongOptions};
    router.command_line = CommandLine(argc, argv, router.process, "");
    return {std::move(router), 0};
  }
  if (!MayServe(start.process, start.no_auth)) return {std::nullopt, kWrongOptions};
  start.command_line = CommandLine(argc, argv, start.process, start.data);
  return {std::move(start), 0};
}

}  // namespace evenkeel::cli
