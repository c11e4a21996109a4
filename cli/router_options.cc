// Implements the options.
#include "cli/router_options.h"

#include "base/bson/json.h"

namespace evenkeel::cli {

router::RouterOptions RouterOptionsOf(const Process& process, const ProcessOptions& options,
                                      const bson::Document& command_line) {
  router::RouterOptions out;
  out.host = process.host();
  out.port = process.port();
  out.evenkeel_version = EVENKEEL_VERSION;
  out.command_line = command_line;
  out.max_connections = options.connections;
  out.test_commands = options.test_commands;
  out.slow_ms = options.slow_ms;
  out.move_rate = options.move_rate;
  out.certificates = process.tls();
  if (const auto key = bson::FromJson(options.test_default_shard_key); key.ok()) {
    out.test_default_shard_key = *key;
  }
  out.server_stats = [&process] { return process.server_stats(); };
  return out;
}

}  // namespace evenkeel::cli
