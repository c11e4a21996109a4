// Options by CLI11; a YAML file gives the same options by the same names.
#include "cli/options.h"

#include <absl/strings/ascii.h>
#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/status.h"
#include "catalog/shard_key.h"

namespace evenkeel::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 stopped cleanly, 1 could not start, 2 wrong options, 70 the disk failed while "
    "running.\n"
    "The configuration file is YAML with the names of the options of `start`, for example:\n"
    "  shards: 3\n  data: /var/lib/evenkeel\n  port: 27017\n  bind: [127.0.0.1]";

// One option of `start`: a list gives several values.
CLI::ConfigItem ItemOf(const std::string& name, const YAML::Node& value) {
  CLI::ConfigItem item;
  item.parents = {"start"};
  item.name = name;
  if (value.IsScalar()) {
    item.inputs.push_back(value.as<std::string>());
    return item;
  }
  for (const auto& one : value) {
    if (one.IsScalar()) item.inputs.push_back(one.as<std::string>());
  }
  if (!value.IsSequence() || item.inputs.size() != value.size()) {
    throw CLI::ConfigError("configuration file, line " + std::to_string(value.Mark().line + 1) +
                           ": '" + name + "' must be a value or a list");
  }
  return item;
}

// The map `tls:` has the names of MongoDB's net.tls: `mode` is the option tlsMode.
void AddTlsItems(const YAML::Node& map, std::vector<CLI::ConfigItem>* found) {
  for (const auto& entry : map) {
    auto name = entry.first.as<std::string>();
    if (!name.empty()) name[0] = absl::ascii_toupper(static_cast<unsigned char>(name[0]));
    found->push_back(ItemOf("tls" + name, entry.second));
  }
}

// Reads YAML for CLI11: every top-level key is an option of `start`.
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
      const auto name = entry.first.as<std::string>();
      if (name == "tls" && entry.second.IsMap()) {
        AddTlsItems(entry.second, &found);
      } else {
        found.push_back(ItemOf(name, entry.second));
      }
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
  app->add_option("--slowms", process->slow_ms,
                  "operations that take so many milliseconds are logged")
      ->check(CLI::Range(0, INT32_MAX))
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

// Empty for a shard key as shardCollection takes it.
std::string WhyNoShardKey(const std::string& text) {
  const auto document = bson::FromJson(text);
  if (!document.ok()) return std::string(MessageOf(document.status()));
  const auto key = catalog::ShardKeyPattern::Parse(*document);
  return key.ok() ? std::string() : std::string(MessageOf(key.status()));
}

void AddClientOptions(CLI::App* app, ProcessOptions* process, bool* no_auth) {
  AddTlsOptions(app, &process->tls);
  app->add_option("--bind", process->bind,
                  "addresses to listen on; others than loopback need --no-auth or --tlsCAFile")
      ->capture_default_str();
  app->add_flag("--no-auth", *no_auth, "accept clients from other hosts without authentication");
  app->add_option("--move-rate", process->move_rate,
                  "bytes of documents per second that moves of collections copy; 0: no limit")
      ->check(CLI::Range(int64_t{0}, INT64_MAX))
      ->capture_default_str();
  CLI::Option* test_commands =
      app->add_flag("--enable-test-commands", process->test_commands,
                    "let clients set fail points, which make commands fail and processes end");
  app->add_option("--test-default-shard-key", process->test_default_shard_key,
                  "shard each new collection without options by this key, for tests of queries")
      ->needs(test_commands)
      ->check([](const std::string& text) { return WhyNoShardKey(text); });
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
  shard->add_option("--id", options->id,
                    "which of its shards this is, for example shard0 [what the data hold; with new "
                    "data the number that addShard gives it]");
  AddDataOptions(shard, &options->data, &options->map_size_gb);
  AddProcessOptions(shard, &options->process, &options->log);
  shard->get_option("--port")->default_str("")->description(
      "port to listen on [the one in the cluster file, or 27018]");
  options->process.bind.clear();
  shard->add_option("--bind", options->process.bind,
                    "addresses to listen on [the one in the cluster file, or 127.0.0.1]");
  shard->footer(
      "A shard that the cluster file does not name is new: it waits until a router adds it by\n"
      "sh.addShard(\"HOST:PORT\"), and knows its number from then on.");
  return shard;
}

void AddRouterChoice(CLI::App* app, RouterChoice* router) {
  app->add_option("--host", router->host, "host of a router")->capture_default_str();
  app->add_option("--port", router->port, "its port")->capture_default_str();
  app->add_option("--uri", router->uri, "mongodb://host:port/?tls=true… instead of these")
      ->excludes("--host")
      ->excludes("--port");
  app->add_option("--timeout", router->timeout_seconds, "seconds to wait for the answer")
      ->check(CLI::Range(1, 3'600))
      ->capture_default_str();
  app->add_flag("--tls", router->tls, "connects by TLS")->group("TLS");
  app->add_option("--tlsCAFile", router->ca_file, "authorities of the router's certificate")
      ->group("TLS");
  app->add_option("--tlsCertificateKeyFile", router->certificate_key_file,
                  "own certificate and key, for routers that ask for one")
      ->group("TLS");
  app->add_option("--tlsCertificateKeyFilePassword", router->key_password, "password of the key")
      ->group("TLS");
  app->add_flag("--tlsAllowInvalidHostnames", router->any_host_name,
                "the router's certificate may be made out to another host")
      ->group("TLS");
}

CLI::App* AddStatus(CLI::App& app, StatusOptions* options) {
  CLI::App* status = app.add_subcommand(
      "status", "shows routers, shards, ranges, sizes, lag and versions of a running cluster");
  AddRouterChoice(status, &options->router);
  status->add_flag("--json", options->json, "prints one JSON object instead of tables");
  status->footer("Exit codes: 0 all is well, 1 something is down, 2 no router could be asked.");
  return status;
}

CLI::App* AddMoves(CLI::App& app, MovesOptions* options) {
  CLI::App* moves = app.add_subcommand(
      "moves", "shows moves of collections: phase, bytes, rate, lag of the log and time left");
  AddRouterChoice(moves, &options->router);
  moves->add_flag("--json", options->json, "prints one JSON object instead of a table");
  moves->add_flag("--watch", options->watch, "again every second, until there are none");
  moves->footer(
      "Exit codes: 0 all goes well, 1 the router of a move is silent, 2 no router could be asked.");
  return moves;
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
  if (no_auth || AsksForCertificates(process.tls)) return true;
  for (const std::string& address : process.bind) {
    if (IsLoopback(address)) continue;
    std::cerr << "evenkeel: --bind " << address
              << " lets other hosts in, and there is no authentication yet: add --no-auth to say "
                 "that this is meant, or ask for certificates by --tlsMode requireTLS and "
                 "--tlsCAFile\n";
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
  StatusOptions status;
  MovesOptions moves;
  AddStart(app, &start);
  const CLI::App* router_app = AddRouter(app, &router);
  const CLI::App* shard_app = AddShard(app, &shard);
  const CLI::App* status_app = AddStatus(app, &status);
  const CLI::App* moves_app = AddMoves(app, &moves);
  app.config_formatter(std::make_shared<YamlConfig>());
  app.set_config("--config", "", "a YAML file with options of `start`; the command line wins");
  app.allow_config_extras(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return {std::nullopt, code == 0 ? 0 : kWrongOptions};
  }
  if (status_app->parsed()) return {std::move(status), 0};
  if (moves_app->parsed()) return {std::move(moves), 0};
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
