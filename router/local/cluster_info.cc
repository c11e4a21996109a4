// Commands about the shards of the cluster.
#include <string>
#include <utility>

#include "base/bson/builder.h"
#include "base/status.h"
#include "catalog/collection.h"
#include "router/config_access.h"
#include "router/local/local.h"
#include "router/router.h"

namespace evenkeel::router::local {
namespace {

// "shard0/host:port" without the name.
std::string_view HostOf(std::string_view connection_string) {
  const size_t slash = connection_string.find('/');
  return slash == std::string_view::npos ? connection_string : connection_string.substr(slash + 1);
}

std::string_view Text(bson::View row, std::string_view field) {
  const bson::Value value = row[field];
  return value.Is(bson::Type::kString) ? value.AsString() : std::string_view();
}

}  // namespace

Awaitable<CommandResult> ListShardsCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> shards,
      co_await ReadConfig(context.router, "shards", bson::Document(), context.scope()));
  bson::Builder reply;
  reply.OpenArray("shards");
  bson::ArrayAppender array(reply);
  for (const bson::Document& shard : shards) array.Add(shard);
  reply.Close();
  co_return reply.Finish();
}

Awaitable<CommandResult> GetShardMapCommand(CommandContext& context) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> shards,
      co_await ReadConfig(context.router, "shards", bson::Document(), context.scope()));
  bson::Builder map, hosts, strings;
  for (const bson::Document& shard : shards) {
    const std::string_view name = Text(shard, "_id"), host = Text(shard, "host");
    map.Append(name, host);
    hosts.Append(HostOf(host), name);
    strings.Append(host, name);
  }
  // The catalog lives on the first shard.
  if (!shards.empty()) map.Append("config", Text(shards[0], "host"));
  bson::Builder reply;
  reply.Append("map", map.Finish())
      .Append("hosts", hosts.Finish())
      .Append("connStrings", strings.Finish());
  co_return reply.Finish();
}

Awaitable<CommandResult> FlushRouterConfigCommand(CommandContext& context) {
  const bson::Value what = context.request.argument;
  if (what.Is(bson::Type::kString) &&
      !catalog::SplitNamespace(what.AsString()).collection.empty()) {
    context.router.cluster->Forget(what.AsString());
  } else {
    context.router.cluster->routes().Clear();
  }
  bson::Builder reply;
  reply.Append("flushed", true);
  co_return reply.Finish();
}

}  // namespace evenkeel::router::local
