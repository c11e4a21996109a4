// The command line and the configuration file, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bson/document.h"

namespace evenkeel::cli {

// What `evenkeel start` was asked for.
struct StartOptions {
  std::optional<uint32_t> shards;  // nothing: as many as the data hold, 3 for new data
  std::string data = "./data";
  uint16_t port = 27017;  // 0: a free one
  std::vector<std::string> bind = {"127.0.0.1"};
  bool no_auth = false;
  std::string log_format = "text";
  std::string log_level = "info";
  uint32_t pool_threads = 0;    // 0: one per core, two at least
  uint64_t map_size_gb = 1024;  // address space of each shard's file
  int64_t connections = 10'000;
  bson::Document command_line;  // {argv: […], parsed: {…}}, for getCmdLineOpts
};

// The outcome of parsing: options to run with, or an exit code (after --help, --version or an
// error, which were printed).
struct ParsedOptions {
  std::optional<StartOptions> start;
  int exit_code = 0;
};

ParsedOptions ParseOptions(int argc, const char* const* argv);

}  // namespace evenkeel::cli
