// Reads the cluster file with yaml-cpp.
#include "cli/cluster_file.h"

#include <yaml-cpp/yaml.h>

#include <fstream>
#include <iterator>
#include <set>

#include "base/status.h"
#include "router/members/shard_row.h"
#include "wire/net/cluster_key.h"
#include "wire/net/host_port.h"

namespace evenkeel::cli {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  absl::StatusOr<ClusterFile> Read() {
    YAML::Node root;
    try {
      root = YAML::LoadFile(path_);
    } catch (const YAML::BadFile&) {
      return Error(ErrorCode::kInvalidOptions, "cannot read the cluster file {}", path_);
    } catch (const YAML::Exception& error) {
      return Error(ErrorCode::kInvalidOptions, "{}: {}", path_, error.what());
    }
    if (!root.IsMap()) return Wrong(root, "the file must hold `key: value` lines");
    EVENKEEL_RETURN_IF_ERROR(CheckKeys(root, {"key", "key-file", "shards", "tls"}));
    ClusterFile file;
    EVENKEEL_ASSIGN_OR_RETURN(file.key, ReadKey(root));
    EVENKEEL_ASSIGN_OR_RETURN(file.shards, ReadShards(root));
    if (const YAML::Node tls = root["tls"]) {
      EVENKEEL_ASSIGN_OR_RETURN(file.tls, ReadTls(tls));
    }
    return file;
  }

 private:
  absl::Status Wrong(const YAML::Node& node, const std::string& what) const {
    return Error(ErrorCode::kInvalidOptions, "{}, line {}: {}", path_, node.Mark().line + 1, what);
  }

  absl::Status CheckKeys(const YAML::Node& map, const std::set<std::string>& known) const {
    for (const auto& entry : map) {
      const auto name = entry.first.as<std::string>();
      if (!known.contains(name)) return Wrong(entry.first, "unknown key '" + name + "'");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Text(const YAML::Node& map, const std::string& name) const {
    const YAML::Node value = map[name];
    if (!value) return Wrong(map, "'" + name + "' is missing");
    if (!value.IsScalar()) return Wrong(value, "'" + name + "' must be a text");
    return value.as<std::string>();
  }

  absl::StatusOr<std::string> ReadKey(const YAML::Node& root) const {
    if (root["key"] && root["key-file"]) {
      return Wrong(root["key"], "give 'key' or 'key-file', not both");
    }
    std::string key;
    const char* name = root["key-file"] ? "key-file" : "key";
    EVENKEEL_ASSIGN_OR_RETURN(key, Text(root, name));
    if (root["key-file"]) {
      std::ifstream stream(key, std::ios::binary);
      if (!stream) return Wrong(root[name], "cannot read the key file " + key);
      key.assign(std::istreambuf_iterator<char>(stream), {});
      while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
    }
    if (key.size() < wire::kClusterKeyBytesMin) {
      return Wrong(root[name], std::string("'") + name + "': the key needs at least " +
                                   std::to_string(wire::kClusterKeyBytesMin) + " bytes");
    }
    return key;
  }

  absl::StatusOr<std::vector<ShardAddress>> ReadShards(const YAML::Node& root) const {
    const YAML::Node list = root["shards"];
    if (!list) return Wrong(root, "'shards' is missing");
    if (!list.IsSequence() || list.size() == 0) {
      return Wrong(list, "'shards' must be a list of {id, address}");
    }
    std::vector<ShardAddress> shards;
    std::set<std::string> addresses;
    for (const YAML::Node& entry : list) {
      EVENKEEL_ASSIGN_OR_RETURN(ShardAddress shard, ReadShard(entry, shards));
      if (!addresses.insert(shard.text()).second) {
        return Wrong(entry, "two shards have the address " + shard.text());
      }
      shards.push_back(std::move(shard));
    }
    return shards;
  }

  absl::StatusOr<wire::TlsFile> FileSetting(const YAML::Node& map, const std::string& name) const {
    wire::TlsFile file;
    EVENKEEL_ASSIGN_OR_RETURN(file.path, Text(map, name));
    file.setting =
        path_ + ", line " + std::to_string(map[name].Mark().line + 1) + ": '" + name + "'";
    return file;
  }

  absl::StatusOr<ClusterTls> ReadTls(const YAML::Node& map) const {
    if (!map.IsMap()) return Wrong(map, "'tls' must hold certificateKeyFile and caFile");
    EVENKEEL_RETURN_IF_ERROR(CheckKeys(map, {"certificateKeyFile", "certificateKeyFilePassword",
                                             "caFile", "allowInvalidHostnames"}));
    ClusterTls tls;
    EVENKEEL_ASSIGN_OR_RETURN(tls.certificate_key_file, FileSetting(map, "certificateKeyFile"));
    EVENKEEL_ASSIGN_OR_RETURN(tls.ca_file, FileSetting(map, "caFile"));
    if (map["certificateKeyFilePassword"]) {
      EVENKEEL_ASSIGN_OR_RETURN(tls.key_password, Text(map, "certificateKeyFilePassword"));
    }
    if (const YAML::Node any = map["allowInvalidHostnames"]) {
      if (!YAML::convert<bool>::decode(any, tls.any_host_name)) {
        return Wrong(any, "'allowInvalidHostnames' must be true or false");
      }
    }
    return tls;
  }

  // Numbers ascend from 0; those of shards that were removed are missing.
  absl::StatusOr<ShardAddress> ReadShard(const YAML::Node& entry,
                                         const std::vector<ShardAddress>& before) const {
    if (!entry.IsMap()) return Wrong(entry, "a shard is written {id: …, address: …}");
    EVENKEEL_RETURN_IF_ERROR(CheckKeys(entry, {"id", "address"}));
    ShardAddress shard;
    EVENKEEL_ASSIGN_OR_RETURN(shard.name, Text(entry, "id"));
    const std::optional<ShardId> id = router::ShardNamed(shard.name);
    if (!id || (before.empty() ? id->value != 0 : *id <= before.back().id)) {
      return Wrong(entry, "'id' is '" + shard.name + "', but shards are listed in order: " +
                              (before.empty() ? "the first is shard0"
                                              : "this one comes after " + before.back().name));
    }
    shard.id = *id;
    EVENKEEL_ASSIGN_OR_RETURN(const std::string address, Text(entry, "address"));
    const auto at = wire::ParseHostPort(address);
    if (!at) return Wrong(entry["address"], "'address' must be host:port, not '" + address + "'");
    shard.host = at->host;
    shard.port = at->port;
    return shard;
  }

  const std::string& path_;
};

}  // namespace

absl::StatusOr<ClusterFile> ReadClusterFile(const std::string& path) { return Reader(path).Read(); }

wire::TlsOptions PeerTls(const ClusterTls& tls, wire::TlsSide side) {
  wire::TlsOptions options;
  options.side = side;
  options.certificate_key_file = tls.certificate_key_file;
  options.key_password = tls.key_password;
  options.ca_file = tls.ca_file;
  options.any_host_name = tls.any_host_name;
  return options;
}

}  // namespace evenkeel::cli
