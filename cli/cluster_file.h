// The file that tells routers and shards of their cluster: which shards there are, where they
// listen, and the key by which they know each other.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "wire/net/tls.h"

namespace evenkeel::cli {

struct ShardAddress {
  std::string name;  // "shard0", "shard1", … in this order, without those that were removed
  ShardId id;
  std::string host;
  uint16_t port = 0;
  std::string text() const { return host + ":" + std::to_string(port); }
};

// How routers and shards encrypt what they send each other. The same file on every host names each
// host's own certificate.
struct ClusterTls {
  wire::TlsFile certificate_key_file, ca_file;  // the settings' names hold file and line
  std::string key_password;
  bool any_host_name = false;
};

struct ClusterFile {
  std::string key;
  std::optional<ClusterTls> tls;
  std::vector<ShardAddress> shards;
};

// Reads and checks a file like
//
//   key-file: /etc/evenkeel/cluster.key      # or  key: …  (16 bytes at least)
//   shards:
//     - {id: shard0, address: "10.0.0.1:27018"}
//     - {id: shard1, address: "10.0.0.2:27018"}
//   tls:                                     # if what they send is to be encrypted
//     certificateKeyFile: /etc/evenkeel/host.pem
//     caFile: /etc/evenkeel/ca.pem
//
// Errors: InvalidOptions, naming file, line and key.
absl::StatusOr<ClusterFile> ReadClusterFile(const std::string& path);

// Both sides show a certificate and ask for one.
wire::TlsOptions PeerTls(const ClusterTls& tls, wire::TlsSide side);

}  // namespace evenkeel::cli
