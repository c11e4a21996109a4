// One shard as a process of its own.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "cli/boot.h"
#include "cli/cluster_file.h"
#include "cli/node.h"
#include "cli/process.h"
#include "cli/shard_handler.h"
#include "cli/shard_set.h"

namespace evenkeel::cli {
namespace {

class ShardNode final : public Node {
 public:
  ShardNode(const ShardStartOptions& options, ShardId id, std::string key, ListenerTls tls)
      : options_(options),
        id_(id),
        key_(std::move(key)),
        process_(options.process, std::move(tls)) {}

  absl::Status Boot();
  std::string Describe() const override { return options_.id + ", data in " + options_.data; }
  std::string Address() const override {
    return process_.host() + ":" + std::to_string(process_.port());
  }
  void WaitForSignal() override { process_.WaitForSignal(); }
  absl::Status Stop() override;

 private:
  const ShardStartOptions options_;
  const ShardId id_;
  const std::string key_;
  Process process_;
  std::unique_ptr<ShardSet> shards_;
  std::unique_ptr<ShardHandler> handler_;
};

absl::Status ShardNode::Boot() {
  EVENKEEL_RETURN_IF_ERROR(MakeDataFolder(options_.data));
  const std::vector<ShardId> in_data = ShardsInData(options_.data);
  if (!in_data.empty() && in_data != std::vector<ShardId>{id_}) {
    return Error(ErrorCode::kInvalidOptions, "the data in {} belong to shard{}, --id says {}",
                 options_.data, in_data.front().value, options_.id);
  }
  EVENKEEL_RETURN_IF_ERROR(process_.Listen());
  ShardSetOptions set{.data = options_.data,
                      .shards = {id_},
                      .slow_ms = options_.process.slow_ms,
                      .map_size_gb = options_.map_size_gb};
  EVENKEEL_ASSIGN_OR_RETURN(set.query_settings,
                            OpenQuerySettings(options_.process.queries, options_.data + "/spill"));
  EVENKEEL_ASSIGN_OR_RETURN(shards_, ShardSet::Open(set, &process_));
  handler_ =
      std::make_unique<ShardHandler>(shards_->service(0), &process_.clock(), key_, process_.tls());
  process_.Serve(handler_.get());
  return absl::OkStatus();
}

absl::Status ShardNode::Stop() {
  base::LogInfo("start", "stopping");
  process_.StopServing(process_.wall()->Now() + kStopTime);
  process_.StopPool();
  const absl::Status status = shards_ ? shards_->Close() : absl::OkStatus();
  base::LogInfo("start", "stopped");
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Node>> StartShard(const ShardStartOptions& options) {
  EVENKEEL_ASSIGN_OR_RETURN(ClusterFile file, ReadClusterFile(options.cluster));
  const auto found =
      std::find_if(file.shards.begin(), file.shards.end(),
                   [&](const ShardAddress& shard) { return shard.name == options.id; });
  if (found == file.shards.end()) {
    return Error(ErrorCode::kInvalidOptions, "the cluster file {} has no shard '{}'",
                 options.cluster, options.id);
  }
  ShardStartOptions with_address = options;
  if (options.process.bind.empty()) with_address.process.bind = {found->host};
  if (!options.port_given) with_address.process.port = found->port;
  const ShardId id{static_cast<uint32_t>(found - file.shards.begin())};
  ListenerTls tls;
  if (file.tls) {
    tls.mode = wire::TlsMode::kRequire;
    EVENKEEL_ASSIGN_OR_RETURN(tls.context,
                              wire::TlsContext::Load(PeerTls(*file.tls, wire::TlsSide::kServer)));
  }
  return Booted(std::make_unique<ShardNode>(with_address, id, std::move(file.key), std::move(tls)));
}

}  // namespace evenkeel::cli
