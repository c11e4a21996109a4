// One shard as a process of its own.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "cli/boot.h"
#include "cli/cluster_file.h"
#include "cli/node.h"
#include "cli/process.h"
#include "cli/shard_handler.h"
#include "cli/shard_set.h"
#include "router/members/shard_row.h"

namespace evenkeel::cli {
namespace {

constexpr uint16_t kShardPort = 27018;  // as MongoDB's shards have it

class ShardNode final : public Node {
 public:
  // id  nothing: new, addShard gives it its number.
  ShardNode(const ShardStartOptions& options, std::optional<ShardId> id, std::string key,
            ListenerTls tls)
      : options_(options),
        id_(id),
        key_(std::move(key)),
        process_(options.process, std::move(tls)),
        shard_([this](ShardId given) { return Open(given); }, process_.network(), process_.pool()) {
  }

  absl::Status Boot();
  std::string Describe() const override {
    const std::string name = id_ ? router::ShardName(*id_) : "a new shard";
    return name + ", data in " + options_.data;
  }
  std::string Address() const override {
    return process_.host() + ":" + std::to_string(process_.port());
  }
  void WaitForSignal() override { process_.WaitForSignal(); }
  absl::Status Stop() override;

 private:
  absl::StatusOr<shard::ShardService*> Open(ShardId id);

  const ShardStartOptions options_;
  const std::optional<ShardId> id_;
  const std::string key_;
  Process process_;
  std::shared_ptr<query::Settings> query_settings_;
  std::unique_ptr<ShardSet> shards_;
  OwnShard shard_;
  std::unique_ptr<ShardHandler> handler_;
};

absl::StatusOr<shard::ShardService*> ShardNode::Open(ShardId id) {
  EVENKEEL_ASSIGN_OR_RETURN(shards_, ShardSet::Open({.data = options_.data,
                                                     .shards = {id},
                                                     .slow_ms = options_.process.slow_ms,
                                                     .map_size_gb = options_.map_size_gb,
                                                     .query_settings = query_settings_},
                                                    &process_));
  return shards_->service(id);
}

absl::Status ShardNode::Boot() {
  EVENKEEL_RETURN_IF_ERROR(MakeDataFolder(options_.data));
  EVENKEEL_RETURN_IF_ERROR(process_.Listen());
  EVENKEEL_ASSIGN_OR_RETURN(query_settings_,
                            OpenQuerySettings(options_.process.queries, options_.data + "/spill"));
  if (id_) {
    EVENKEEL_ASSIGN_OR_RETURN(shard::ShardService * service, Open(*id_));
    shard_.Start(*id_, service);
  }
  handler_ = std::make_unique<ShardHandler>(&shard_, &process_.clock(), key_, process_.tls());
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

// Which shard this is, by --id and by the data; nothing: a new one.
absl::StatusOr<std::optional<ShardId>> IdOf(const ShardStartOptions& options) {
  const std::vector<ShardId> in_data = ShardsInData(options.data);
  if (options.id.empty()) {
    if (in_data.empty()) return std::nullopt;
    if (in_data.size() == 1) return in_data.front();
    return Error(ErrorCode::kInvalidOptions, "the data in {} belong to {} shards", options.data,
                 in_data.size());
  }
  const std::optional<ShardId> id = router::ShardNamed(options.id);
  if (id && (in_data.empty() || in_data == std::vector<ShardId>{*id})) return id;
  if (!id) return Error(ErrorCode::kInvalidOptions, "--id must be like shard0: '{}'", options.id);
  return Error(ErrorCode::kInvalidOptions, "the data in {} belong to {}, --id says {}",
               options.data, router::ShardName(in_data.front()), options.id);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Node>> StartShard(const ShardStartOptions& options) {
  EVENKEEL_ASSIGN_OR_RETURN(ClusterFile file, ReadClusterFile(options.cluster));
  EVENKEEL_ASSIGN_OR_RETURN(const std::optional<ShardId> id, IdOf(options));
  const auto found = std::find_if(file.shards.begin(), file.shards.end(),
                                  [&](const ShardAddress& shard) { return shard.id == id; });
  const bool in_file = found != file.shards.end();
  if (!in_file && !options.id.empty()) {
    return Error(ErrorCode::kInvalidOptions,
                 "the cluster file {} has no shard '{}'; a new shard is started without --id",
                 options.cluster, options.id);
  }
  ShardStartOptions with_address = options;
  if (options.process.bind.empty()) {
    with_address.process.bind.assign(1, in_file ? found->host : "127.0.0.1");
  }
  if (!options.port_given) with_address.process.port = in_file ? found->port : kShardPort;
  ListenerTls tls;
  if (file.tls) {
    tls.mode = wire::TlsMode::kRequire;
    EVENKEEL_ASSIGN_OR_RETURN(tls.context,
                              wire::TlsContext::Load(PeerTls(*file.tls, wire::TlsSide::kServer)));
  }
  return Booted(std::make_unique<ShardNode>(with_address, id, std::move(file.key), std::move(tls)));
}

}  // namespace evenkeel::cli
