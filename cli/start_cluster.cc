// A whole cluster in one process: router and embedded shards.
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "cli/boot.h"
#include "cli/embedded_channel.h"
#include "cli/node.h"
#include "cli/process.h"
#include "cli/router_options.h"
#include "cli/shard_set.h"
#include "router/router.h"

namespace evenkeel::cli {
namespace {

constexpr uint32_t kDefaultShards = 3;

class ClusterNode final : public Node {
 public:
  ClusterNode(const StartOptions& options, ListenerTls tls)
      : options_(options), process_(options.process, std::move(tls)) {}

  absl::Status Boot();
  std::string Describe() const override {
    return std::to_string(shards_->size()) + " shards, data in " + options_.data;
  }
  std::string Address() const override { return process_.ClientAddress(); }
  void WaitForSignal() override { process_.WaitForSignal(); }
  absl::Status Stop() override;

 private:
  absl::Status OpenShards();
  absl::Status StartRouter();

  const StartOptions options_;
  Process process_;
  std::shared_ptr<query::Settings> query_settings_;
  std::unique_ptr<ShardSet> shards_;
  std::unique_ptr<router::Router> router_;
};

absl::Status ClusterNode::OpenShards() {
  const size_t in_data = ShardsInData(options_.data).size();
  if (in_data > 0 && options_.shards && *options_.shards != in_data) {
    return Error(ErrorCode::kInvalidOptions, "the data in {} have {} shards, --shards says {}",
                 options_.data, in_data, *options_.shards);
  }
  ShardSetOptions set{.data = options_.data,
                      .slow_ms = options_.process.slow_ms,
                      .map_size_gb = options_.map_size_gb,
                      .query_settings = query_settings_};
  const size_t count = in_data > 0 ? in_data : options_.shards.value_or(kDefaultShards);
  for (uint32_t number = 0; number < count; ++number) set.shards.push_back(ShardId{number});
  EVENKEEL_ASSIGN_OR_RETURN(shards_, ShardSet::Open(set, &process_));
  return absl::OkStatus();
}

absl::Status ClusterNode::StartRouter() {
  std::vector<std::unique_ptr<wire::ShardChannel>> channels;
  router::RouterOptions options =
      RouterOptionsOf(process_, options_.process, options_.command_line);
  options.query_settings = query_settings_;
  for (size_t number = 0; number < shards_->size(); ++number) {
    channels.push_back(std::make_unique<EmbeddedChannel>(shards_->service(number)));
  }
  router_ =
      std::make_unique<router::Router>(std::move(options), std::move(channels), &process_.clock(),
                                       process_.wall(), process_.network(), process_.pool());
  return process_.Run(router_->Start());
}

absl::Status ClusterNode::Boot() {
  EVENKEEL_RETURN_IF_ERROR(MakeDataFolder(options_.data));
  EVENKEEL_RETURN_IF_ERROR(process_.Listen());
  EVENKEEL_ASSIGN_OR_RETURN(query_settings_,
                            OpenQuerySettings(options_.process.queries, options_.data + "/spill"));
  EVENKEEL_RETURN_IF_ERROR(OpenShards());
  EVENKEEL_RETURN_IF_ERROR(StartRouter());
  process_.Serve(router_.get());
  return absl::OkStatus();
}

absl::Status ClusterNode::Stop() {
  const absl::Time deadline = process_.wall()->Now() + kStopTime;
  base::LogInfo("start", "stopping");
  process_.StopServing(deadline);
  if (router_) process_.Run(router_->Stop(deadline));
  process_.StopPool();
  const absl::Status status = shards_ ? shards_->Close() : absl::OkStatus();
  base::LogInfo("start", "stopped");
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Node>> StartCluster(const StartOptions& options) {
  EVENKEEL_ASSIGN_OR_RETURN(ListenerTls tls, LoadTls(options.process.tls));
  return Booted(std::make_unique<ClusterNode>(options, std::move(tls)));
}

}  // namespace evenkeel::cli
