// Options by CLI11; a YAML file gives the same options by the same names.
#include "cli/options.h"

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

void AddStartOptions(CLI::App* start, StartOptions* options) {
  start
      ->add_option("--shards", options->shards,
                   "number of embedded shards [what the data hold; 3 for new data]")
      ->check(CLI::Range(1, 64));
  start->add_option("--data", options->data, "folder of the data, made if it is missing")
      ->capture_default_str();
  start->add_option("--port", options->port, "port to listen on; 0 picks a free one")
      ->capture_default_str();
  start
      ->add_option("--bind", options->bind,
                   "addresses to listen on; others than loopback need --no-auth")
      ->capture_default_str();
  start->add_flag("--no-auth", options->no_auth,
                  "accept clients from other hosts without authentication");
  start->add_option("--log-format", options->log_format, "form of the log lines on standard error")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  start->add_option("--log-level", options->log_level, "least severity that is logged")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  start
      ->add_option("--pool-threads", options->pool_threads,
                   "threads for scans [one per core, 2 at least]")
      ->check(CLI::Range(0, 256));
  start->add_option("--connections", options->connections, "most client connections at a time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  start
      ->add_option("--map-size-gb", options->map_size_gb,
                   "address space for each shard's file, in GB")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
}

bson::Document CommandLine(int argc, const char* const* argv, const StartOptions& options) {
  bson::Builder out;
  out.OpenArray("argv");
  bson::ArrayAppender array(out);
  for (int i = 0; i < argc; ++i) array.Add(argv[i]);
  out.Close().OpenDocument("parsed").OpenDocument("net").Append("port",
                                                                static_cast<int32_t>(options.port));
  std::string bind;
  for (const std::string& address : options.bind) bind += (bind.empty() ? "" : ",") + address;
  out.Append("bindIp", bind)
      .Close()
      .OpenDocument("storage")
      .Append("dbPath", options.data)
      .Close()
      .Close();
  return out.Finish();
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "localhost" || address == "::1";
}

}  // namespace

ParsedOptions ParseOptions(int argc, const char* const* argv) {
  CLI::App app(
      "Evenkeel: a sharded document database that MongoDB's drivers and mongosh use unchanged");
  app.name("evenkeel");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("evenkeel ") + EVENKEEL_VERSION);
  app.require_subcommand(1);
  StartOptions options;
  CLI::App* start =
      app.add_subcommand("start", "runs a whole cluster in this process: a router and its shards");
  AddStartOptions(start, &options);
  start->footer("Also: --config FILE reads these options from a YAML file; the command line wins.");
  app.config_formatter(std::make_shared<YamlConfig>());
  app.set_config("--config", "", "a YAML file with options of `start`; the command line wins");
  app.allow_config_extras(false);
  start->fallthrough();  // --config may stand behind `start`
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return {std::nullopt, code == 0 ? 0 : 2};
  }
  for (const std::string& address : options.bind) {
    if (IsLoopback(address) || options.no_auth) continue;
    std::cerr << "evenkeel: --bind " << address
              << " lets other hosts in, and there is no authentication yet: add --no-auth to say "
                 "that this is meant\n";
    return {std::nullopt, 2};
  }
  options.command_line = CommandLine(argc, argv, options);
  return {std::move(options), 0};
}

}  // namespace evenkeel::cli
