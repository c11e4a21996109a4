// The command line and the configuration file, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/bson/document.h"
#include "cli/moves.h"
#include "cli/process.h"
#include "cli/status.h"

namespace evenkeel::cli {

struct LogChoice {
  std::string format = "text";
  std::string level = "info";
};

// What `evenkeel start` was asked for: a whole cluster in one process.
struct StartOptions {
  ProcessOptions process;
  LogChoice log;
  bool no_auth = false;
  std::optional<uint32_t> shards;  // nothing: as many as the data hold, 3 for new data
  std::string data = "./data";
  uint64_t map_size_gb = 1024;  // address space of each shard's file
  bson::Document command_line;  // {argv: […], parsed: {…}}, for getCmdLineOpts
};

// `evenkeel router`: a router of shards in other processes.
struct RouterStartOptions {
  ProcessOptions process;
  LogChoice log;
  bool no_auth = false;
  std::string cluster;  // the cluster file
  bson::Document command_line;
};

// `evenkeel shard`: one shard of a cluster.
struct ShardStartOptions {
  ProcessOptions process;   // bind empty: the address in the cluster file, or loopback
  bool port_given = false;  // else the port is the cluster file's, or kShardPort
  LogChoice log;
  std::string cluster;  // the cluster file
  std::string id;       // "shard0"; empty: what the data say, or what addShard will say
  std::string data = "./data";
  uint64_t map_size_gb = 1024;
};

using Role =
    std::variant<StartOptions, RouterStartOptions, ShardStartOptions, StatusOptions, MovesOptions>;

// The outcome of parsing: a role to run, or an exit code (after --help, --version or an error,
// which were printed).
struct ParsedOptions {
  std::optional<Role> role;
  int exit_code = 0;
};

ParsedOptions ParseOptions(int argc, const char* const* argv);

}  // namespace evenkeel::cli
