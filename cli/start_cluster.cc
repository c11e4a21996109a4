// A whole cluster in one process: router and embedded shards.
#include <algorithm>
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

std::vector<ShardId> Numbers(uint32_t first, uint32_t count) {
  std::vector<ShardId> ids;
  for (uint32_t i = 0; i < count; ++i) ids.push_back(ShardId{first + i});
  return ids;
}

class ClusterNode final : public Node {
 public:
  ClusterNode(const StartOptions& options, ListenerTls tls)
      : options_(options), process_(options.process, std::move(tls)) {}

  absl::Status Boot();
  std::string Describe() const override {
    return std::to_string(router_->state().cluster->shard_count()) + " shards, data in " +
           options_.data;
  }
  std::string Address() const override { return process_.ClientAddress(); }
  void WaitForSignal() override { process_.WaitForSignal(); }
  absl::Status Stop() override;

 private:
  absl::Status OpenShards(std::vector<ShardId> ids);
  std::vector<router::ShardMember> Members(const std::vector<ShardId>& ids);
  // Opens what the data hold, and as many new shards as --shards asks for. Returns the members:
  // shards that were removed have data still.
  absl::StatusOr<std::vector<ShardId>> OpenMembers();
  absl::Status StartRouter(const std::vector<ShardId>& members);

  const StartOptions options_;
  Process process_;
  std::shared_ptr<query::Settings> query_settings_;
  std::unique_ptr<ShardSet> shards_;
  std::unique_ptr<router::Router> router_;
};

absl::Status ClusterNode::OpenShards(std::vector<ShardId> ids) {
  ShardSetOptions set{.data = options_.data,
                      .shards = std::move(ids),
                      .slow_ms = options_.process.slow_ms,
                      .map_size_gb = options_.map_size_gb,
                      .query_settings = query_settings_};
  EVENKEEL_ASSIGN_OR_RETURN(shards_, ShardSet::Open(set, &process_));
  return absl::OkStatus();
}

std::vector<router::ShardMember> ClusterNode::Members(const std::vector<ShardId>& ids) {
  const std::string host = process_.host() + ":" + std::to_string(process_.port());
  std::vector<router::ShardMember> members;
  for (const ShardId id : ids) {
    members.push_back({{id, host}, std::make_shared<EmbeddedChannel>(shards_->service(id))});
  }
  return members;
}

absl::StatusOr<std::vector<ShardId>> ClusterNode::OpenMembers() {
  const std::vector<ShardId> in_data = ShardsInData(options_.data);
  if (in_data.empty()) {
    std::vector<ShardId> ids = Numbers(0, options_.shards.value_or(kDefaultShards));
    EVENKEEL_RETURN_IF_ERROR(OpenShards(ids));
    return ids;
  }
  EVENKEEL_RETURN_IF_ERROR(OpenShards(in_data));
  router::Cluster catalog(Members({ShardId{0}}));
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<router::ShardRow> rows,
                            process_.Run(catalog.ReadMembers({})));
  // The making of the cluster was interrupted.
  if (rows.empty()) return in_data;
  EVENKEEL_ASSIGN_OR_RETURN(const uint32_t next, process_.Run(catalog.NextShardNumber({})));
  std::vector<ShardId> ids;
  for (const router::ShardRow& row : rows) ids.push_back(row.shard);
  const size_t wanted = options_.shards.value_or(static_cast<uint32_t>(ids.size()));
  if (wanted < ids.size()) {
    return Error(ErrorCode::kInvalidOptions,
                 "the data in {} have {} shards, --shards says {}: start without it, then remove "
                 "shards by the command removeShard",
                 options_.data, ids.size(), wanted);
  }
  const std::vector<ShardId> added = Numbers(next, static_cast<uint32_t>(wanted - ids.size()));
  if (added.empty()) return ids;
  // The log knows its shards from its opening on.
  std::vector<ShardId> all = in_data;
  for (const ShardId id : added) {
    if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
  }
  EVENKEEL_RETURN_IF_ERROR(shards_->Close());
  shards_.reset();
  EVENKEEL_RETURN_IF_ERROR(OpenShards(std::move(all)));
  ids.insert(ids.end(), added.begin(), added.end());
  return ids;
}

absl::Status ClusterNode::StartRouter(const std::vector<ShardId>& members) {
  router::RouterOptions options =
      RouterOptionsOf(process_, options_.process, options_.command_line);
  options.query_settings = query_settings_;
  router_ = std::make_unique<router::Router>(std::move(options), Members(members),
                                             router::OpenChannel(), &process_.clock(),
                                             process_.wall(), process_.network(), process_.pool());
  return process_.Run(router_->Start());
}

absl::Status ClusterNode::Boot() {
  EVENKEEL_RETURN_IF_ERROR(MakeDataFolder(options_.data));
  EVENKEEL_RETURN_IF_ERROR(process_.Listen());
  EVENKEEL_ASSIGN_OR_RETURN(query_settings_,
                            OpenQuerySettings(options_.process.queries, options_.data + "/spill"));
  EVENKEEL_ASSIGN_OR_RETURN(const std::vector<ShardId> members, OpenMembers());
  EVENKEEL_RETURN_IF_ERROR(StartRouter(members));
  process_.Serve(router_.get());
  return absl::OkStatus();
}

absl::Status ClusterNode::Stop() {
  const absl::Time deadline = process_.wall()->Now() + kStopTime;
  base::LogInfo("start", "stopping");
  if (router_) router_->AnnounceStop(deadline);
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
