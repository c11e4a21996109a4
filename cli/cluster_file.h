// The file that tells routers and shards of their cluster: which shards there are, where they
// listen, and the key by which they know each other.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::cli {

struct ShardAddress {
  std::string name;  // "shard0", "shard1", … in this order
  std::string host;
  uint16_t port = 0;
  std::string text() const { return host + ":" + std::to_string(port); }
};

struct ClusterFile {
  std::string key;
  std::vector<ShardAddress> shards;
};

// Reads and checks a file like
//
//   key-file: /etc/evenkeel/cluster.key      # or  key: …  (16 bytes at least)
//   shards:
//     - {id: shard0, address: "10.0.0.1:27018"}
//     - {id: shard1, address: "10.0.0.2:27018"}
//
// Errors: InvalidOptions, naming file, line and key.
absl::StatusOr<ClusterFile> ReadClusterFile(const std::string& path);

}  // namespace evenkeel::cli
