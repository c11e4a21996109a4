// A router whose shards are other processes.
#include <filesystem>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/status.h"
#include "cli/boot.h"
#include "cli/cluster_file.h"
#include "cli/node.h"
#include "cli/process.h"
#include "cli/router_options.h"
#include "router/router.h"
#include "wire/net/host_port.h"
#include "wire/net/remote_channel.h"

namespace evenkeel::cli {
namespace {

class RouterNode final : public Node {
 public:
  RouterNode(const RouterStartOptions& options, ListenerTls tls)
      : options_(options), process_(options.process, std::move(tls)) {}

  absl::Status Boot();
  std::string Describe() const override {
    return "router of " + std::to_string(router_->state().cluster->shard_count()) + " shards";
  }
  std::string Address() const override { return process_.ClientAddress(); }
  void WaitForSignal() override { process_.WaitForSignal(); }
  absl::Status Stop() override;

 private:
  // Opens channels to shards: those of the file, and others as they are added.
  router::OpenChannel ChannelOpener(std::string key);

  const RouterStartOptions options_;
  Process process_;
  std::shared_ptr<wire::TlsContext> peers_;  // null: shards are talked to in the clear
  std::unique_ptr<router::Router> router_;
};

router::OpenChannel RouterNode::ChannelOpener(std::string key) {
  return [this, key = std::move(key)](const std::string& name, const std::string& host) {
    const auto at = wire::ParseHostPort(host);
    EVENKEEL_CHECK(at);
    wire::RemoteChannelOptions options;
    options.address = {name, at->host, at->port, key, peers_};
    auto channel = std::make_shared<wire::RemoteChannel>(std::move(options), &process_.clock(),
                                                         process_.network());
    channel->Start();
    return channel;
  };
}

absl::Status RouterNode::Boot() {
  EVENKEEL_ASSIGN_OR_RETURN(const ClusterFile file, ReadClusterFile(options_.cluster));
  if (file.tls) {
    EVENKEEL_ASSIGN_OR_RETURN(peers_,
                              wire::TlsContext::Load(PeerTls(*file.tls, wire::TlsSide::kClient)));
  }
  EVENKEEL_RETURN_IF_ERROR(process_.Listen());
  router::RouterOptions options =
      RouterOptionsOf(process_, options_.process, options_.command_line);
  const std::string temporary = std::filesystem::temp_directory_path() / "evenkeel-spill";
  EVENKEEL_ASSIGN_OR_RETURN(options.query_settings,
                            OpenQuerySettings(options_.process.queries, temporary));
  options.owns_shards = false;
  options.shard_certificates = peers_;
  const router::OpenChannel open = ChannelOpener(file.key);
  std::vector<router::ShardMember> shards;
  for (const ShardAddress& shard : file.shards) {
    shards.push_back({{shard.id, shard.text()}, open(shard.name, shard.text())});
  }
  router_ = std::make_unique<router::Router>(std::move(options), std::move(shards), open,
                                             &process_.clock(), process_.wall(), process_.network(),
                                             process_.pool());
  EVENKEEL_RETURN_IF_ERROR(process_.Run(router_->Start()));
  process_.Serve(router_.get());
  return absl::OkStatus();
}

absl::Status RouterNode::Stop() {
  const absl::Time deadline = process_.wall()->Now() + kStopTime;
  base::LogInfo("start", "stopping");
  if (router_) router_->AnnounceStop(deadline);
  process_.StopServing(deadline);
  if (router_) process_.Run(router_->Stop(deadline));
  process_.StopPool();
  base::LogInfo("start", "stopped");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Node>> StartRouter(const RouterStartOptions& options) {
  EVENKEEL_ASSIGN_OR_RETURN(ListenerTls tls, LoadTls(options.process.tls));
  return Booted(std::make_unique<RouterNode>(options, std::move(tls)));
}

}  // namespace evenkeel::cli
