// rotateCertificates: files of certificates are read again, here and by all shards.
#include <string_view>
#include <vector>

#include "base/bson/builder.h"
#include "base/log.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/local/local.h"
#include "router/router.h"
#include "router/shard_request.h"
#include "wire/net/tls.h"

namespace evenkeel::router::local {
namespace {

struct RotateRequest {
  std::string_view message;
};
constexpr query::FieldRule kFields[] = {
    {"message", query::fields::String<&RotateRequest::message>},
};

// New connections to shards need what both sides have by now.
Awaitable<absl::Status> RotateShards(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(context.router.options.shard_certificates->Reload());
  Cluster& cluster = *context.router.cluster;
  std::vector<ShardCall> calls;
  const std::vector<ShardId> shards = cluster.AllShards();
  for (const ShardId shard : shards) {
    bson::Builder body;
    body.Append("_rotateCertificates", int32_t{1}).Append("$db", "admin");
    calls.push_back({shard, MakeMessage(body.Finish())});
  }
  const auto replies = co_await cluster.SendAll(std::move(calls), context.scope());
  for (size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].ok()) {
      co_return Annotate(replies[i].status(), Cluster::ShardName(shards[i]));
    }
  }
  co_return absl::OkStatus();
}

}  // namespace

Awaitable<CommandResult> RotateCertificatesCommand(CommandContext& context) {
  RotateRequest request;
  EVENKEEL_CO_RETURN_IF_ERROR(query::ReadFields(context.body(), "rotateCertificates",
                                                query::FieldScope::kCommand, kFields, &request));
  const RouterOptions& options = context.router.options;
  if (options.certificates == nullptr && options.shard_certificates == nullptr) {
    co_return MakeError(ErrorCode::kOperationFailed, "there are no certificates: TLS is not used");
  }
  if (options.certificates != nullptr) {
    EVENKEEL_CO_RETURN_IF_ERROR(options.certificates->Reload());
  }
  if (options.shard_certificates != nullptr) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await RotateShards(context));
  }
  base::LogInfo("router", "certificates were read again",
                {{"connection", context.client.connection_id}, {"message", request.message}});
  co_return bson::Document();
}

}  // namespace evenkeel::router::local
