// clusterStatus: who belongs to the cluster, how much each shard holds, and whether all is well.
// What `evenkeel status` shows.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/assignment.h"
#include "query/request/fields.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/live_routers.h"
#include "router/local/local.h"
#include "router/router.h"
#include "router/shard_request.h"

namespace evenkeel::router::local {
namespace {

// A shard that has not answered by then is down.
constexpr absl::Duration kAnswerTimeMax = absl::Seconds(3);
// A router that has been silent for so long is not coming back, and is not listed.
constexpr absl::Duration kForgottenAfter = absl::Hours(1);

using Reply = absl::StatusOr<wire::Message>;

// Of the hash space.
struct Share {
  int64_t ranges = 0;
  double part = 0;  // 0 to 1, of all assignments together
};
using Shares = std::map<ShardId, Share>;

ShardCall Ask(ShardId shard, std::string_view command) {
  bson::Builder body;
  body.Append(command, int32_t{1}).Append("$db", "admin");
  return {shard, MakeMessage(body.Finish())};
}

absl::StatusOr<Shares> SharesOf(const std::vector<bson::Document>& assignments) {
  constexpr double kSpace = 18446744073709551616.0;  // 2 to the 64th
  Shares shares;
  for (const bson::Document& row : assignments) {
    EVENKEEL_ASSIGN_OR_RETURN(const catalog::Assignment assignment,
                              catalog::Assignment::FromBson(row));
    const auto ranges = assignment.ranges();
    for (size_t i = 0; i < ranges.size(); ++i) {
      const auto begin = static_cast<double>(ranges[i].min);
      const double end =
          i + 1 < ranges.size() ? static_cast<double>(ranges[i + 1].min) : kSpace / 2;
      Share& share = shares[ranges[i].owner];
      ++share.ranges;
      share.part += (end - begin) / kSpace / static_cast<double>(assignments.size());
    }
  }
  return shares;
}

// Makes the reply and collects what is wrong.
class Report {
 public:
  explicit Report(const RouterState& router) : router_(router), now_(router.wall->Now()) {}

  void AddRouters(const std::vector<bson::Document>& rows) {
    reply_.OpenArray("routers");
    bson::ArrayAppender array(reply_);
    const std::string own = fmt::format("{}:{}", router_.options.host, router_.options.port);
    const absl::Duration uptime = now_ - router_.started;
    AddRouter(array, own, router_.options.evenkeel_version, uptime, absl::ZeroDuration());
    for (const bson::Document& row : rows) {
      const std::string_view name = Text(row, "_id");
      const bson::Value ping = row["ping"], created = row["created"];
      if (name == own || !ping.Is(bson::Type::kDate) || !created.Is(bson::Type::kDate)) continue;
      const absl::Time seen = absl::FromUnixMillis(ping.AsDateMillis());
      if (now_ - seen > kForgottenAfter) continue;
      AddRouter(array, name, Text(row, "evenkeelVersion"),
                seen - absl::FromUnixMillis(created.AsDateMillis()), now_ - seen);
    }
    reply_.Close();
  }

  // replies  two of each member: figures of the shard, and of its process where it has one of its
  // own.
  // shares  none where the catalog cannot be read.
  void AddShards(const Membership::Members& members, const std::vector<Reply>& replies,
                 const std::optional<Shares>& shares) {
    const size_t count = members.size();
    const bool own_processes = replies.size() > count;
    reply_.OpenArray("shards");
    bson::ArrayAppender array(reply_);
    size_t at = 0;
    for (const auto& [shard, member] : members) {
      reply_.OpenDocument(array.NextKey());
      AddShard(member.row, replies[at], own_processes ? &replies[count + at] : nullptr);
      if (shares) AddShare(*shares, shard);
      reply_.Close();
      ++at;
    }
    reply_.Close();
  }

  void AddProblem(std::string problem) { problems_.push_back(std::move(problem)); }

  bson::Document Finish() {
    reply_.Append("state", problems_.empty() ? "ok" : "degraded").OpenArray("problems");
    bson::ArrayAppender array(reply_);
    for (const std::string& problem : problems_) array.Add(problem);
    reply_.Close();
    return reply_.Finish();
  }

 private:
  static std::string_view Text(bson::View row, std::string_view field) {
    const bson::Value value = row[field];
    return value.Is(bson::Type::kString) ? value.AsString() : std::string_view();
  }

  void AddRouter(bson::ArrayAppender& array, std::string_view name, std::string_view version,
                 absl::Duration uptime, absl::Duration silence) {
    const bool up = silence <= ddl::LiveRouters::kSilenceMax;
    reply_.OpenDocument(array.NextKey())
        .Append("host", name)
        .Append("state", up ? "up" : "silent")
        .Append("version", version)
        .Append("uptimeSecs", absl::ToInt64Seconds(uptime))
        .Append("silentSecs", absl::ToInt64Seconds(silence))
        .Close();
    if (!up) AddProblem(fmt::format("router {} is silent", name));
  }

  void AddShare(const Shares& shares, ShardId shard) {
    const auto found = shares.find(shard);
    const Share share = found == shares.end() ? Share() : found->second;
    reply_.Append("ranges", share.ranges).Append("share", share.part);
  }

  void AddShard(const ShardRow& row, const Reply& stats, const Reply* process) {
    const std::string name = ShardName(row.shard);
    const absl::Status status = stats.ok() && process ? process->status() : stats.status();
    reply_.Append("_id", name)
        .Append("host", row.host)
        .Append("state", status.ok() ? "up" : "down");
    if (row.draining) reply_.Append("draining", true);
    if (!status.ok()) {
      const std::string why(MessageOf(status));
      reply_.Append("error", why);
      AddProblem(fmt::format("{} does not answer: {}", name, why));
      return;
    }
    if (process) {
      reply_.Append("version", (*process)->body["version"])
          .Append("uptimeSecs", (*process)->body["uptimeSecs"]);
    } else {
      reply_.Append("version", router_.options.evenkeel_version)
          .Append("uptimeSecs", absl::ToInt64Seconds(now_ - router_.started));
    }
    const bson::View body = stats->body;
    for (const char* field : {"collections", "documents", "dataBytes", "indexBytes"}) {
      reply_.Append(field, body[field]);
    }
    reply_.Append("fileBytes", body["lmdbBytes"])
        .Append("lagBytes", bson::ToInt64Truncated(body["activeTableBytes"]) +
                                bson::ToInt64Truncated(body["frozenTableBytes"]));
    const int64_t damaged = bson::ToInt64Truncated(body["damagedDocuments"]);
    reply_.Append("damagedDocuments", damaged);
    if (damaged > 0) AddProblem(fmt::format("{} has met {} damaged documents", name, damaged));
  }

  const RouterState& router_;
  const absl::Time now_;
  std::vector<std::string> problems_;
  bson::Builder reply_;
};

}  // namespace

Awaitable<CommandResult> ClusterStatusCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(
      query::ReadFields(context.body(), "clusterStatus", query::FieldScope::kCommand, {}, nullptr));
  RouterState& router = context.router;
  CallScope scope = context.scope();
  scope.deadline = std::min(scope.deadline, router.wall->Now() + kAnswerTimeMax);
  std::vector<ShardCall> calls;
  const auto members = router.cluster->members();
  for (const auto& [shard, member] : *members) calls.push_back(Ask(shard, "_shardStats"));
  if (!router.options.owns_shards) {
    for (const auto& [shard, member] : *members) calls.push_back(Ask(shard, "_processInfo"));
  }
  const std::vector<Reply> replies = co_await router.cluster->SendAll(std::move(calls), scope);
  scope.deadline = std::min(context.request.deadline, router.wall->Now() + kAnswerTimeMax);
  Report report(router);
  // Without the catalog only this router is known, and no ranges.
  std::vector<bson::Document> routers;
  std::optional<Shares> shares;
  if (replies.front().ok()) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(routers,
                                 co_await ReadConfig(router, "mongos", bson::Document(), scope));
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        const std::vector<bson::Document> assignments,
        co_await ReadConfig(router, "assignments", bson::Document(), scope));
    EVENKEEL_CO_ASSIGN_OR_RETURN(shares, SharesOf(assignments));
  } else {
    report.AddProblem("the catalog, on shard0, cannot be read");
  }
  report.AddRouters(routers);
  report.AddShards(*members, replies, shares);
  co_return report.Finish();
}

}  // namespace evenkeel::router::local
