// clusterMoves: how far the moves of collections are, whichever router runs them. What
// `evenkeel moves` shows.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/status.h"
#include "query/request/fields.h"
#include "router/config_access.h"
#include "router/ddl/job_record.h"
#include "router/ddl/live_routers.h"
#include "router/ddl/move_progress.h"
#include "router/local/local.h"
#include "router/router.h"

namespace evenkeel::router::local {
namespace {

// The router whose row in config.mongos has this process; empty where it is not there any more.
bson::View RowOf(const std::vector<bson::Document>& routers, std::string_view process) {
  for (const bson::Document& row : routers) {
    const bson::Value found = row["process"];
    if (found.Is(bson::Type::kObjectId) && found.AsObjectId() == process) return row.view();
  }
  return {};
}

bool IsSilent(bson::View router, absl::Time now) {
  const bson::Value ping = router["ping"];
  return !ping.Is(bson::Type::kDate) ||
         now - absl::FromUnixMillis(ping.AsDateMillis()) > ddl::LiveRouters::kSilenceMax;
}

// What its router has last told of a move; empty before it has.
bson::View Told(bson::View router, std::string_view ns) {
  const bson::Value moves = router["moves"];
  if (!moves.Is(bson::Type::kArray)) return {};
  for (const auto& [key, value] : moves.AsDocument()) {
    if (!value.Is(bson::Type::kObject)) continue;
    const bson::Value name = value.AsDocument()["ns"];
    if (name.Is(bson::Type::kString) && name.AsString() == ns) return value.AsDocument();
  }
  return {};
}

class MoveReport {
 public:
  MoveReport(const RouterState& router, const std::vector<bson::Document>& routers)
      : router_(router), routers_(routers), now_(router.wall->Now()) {
    reply_.OpenArray("moves");
  }

  // A record of config.jobs; others than of moves are left out.
  absl::Status Add(bson::View record) {
    bool passed = false;
    EVENKEEL_ASSIGN_OR_RETURN(const ddl::Job job, ddl::JobFrom(record, &passed));
    std::optional<ddl::MoveFacts> facts = ddl::FactsOf(job);
    if (!facts) return absl::OkStatus();
    const bson::Value owner = record["owner"];
    const std::string_view process =
        owner.Is(bson::Type::kObjectId) ? owner.AsObjectId() : std::string_view();
    if (const auto own = router_.moves->Find(job.name); own && process == router_.process_id) {
      AddRow(own->Row(), fmt::format("{}:{}", router_.options.host, router_.options.port));
      return absl::OkStatus();
    }
    const bson::View host = RowOf(routers_, process);
    const bson::Value name = host["_id"];
    const std::string text(name.Is(bson::Type::kString) ? name.AsString() : "");
    if (process != router_.process_id && IsSilent(host, now_)) {
      problems_.push_back(
          fmt::format("the router {} that moves {} is silent: another one will {} it", text,
                      job.name, passed ? "finish" : "undo"));
    }
    const bson::View told = Told(host, job.name);
    AddRow(told.empty() ? ddl::MoveProgress(*std::move(facts), router_.wall).Row()
                        : bson::Document(told),
           text);
    return absl::OkStatus();
  }

  bson::Document Finish() {
    bson::ArrayAppender array(reply_);
    for (const bson::Document& row : rows_) array.Add(row);
    reply_.Close().Append("state", problems_.empty() ? "ok" : "degraded").OpenArray("problems");
    bson::ArrayAppender problems(reply_);
    for (const std::string& problem : problems_) problems.Add(problem);
    reply_.Close();
    return reply_.Finish();
  }

 private:
  void AddRow(const bson::Document& row, std::string_view host) {
    bson::Builder out(row.view());
    rows_.push_back(out.Append("router", host).Finish());
  }

  const RouterState& router_;
  const std::vector<bson::Document>& routers_;
  const absl::Time now_;
  std::vector<bson::Document> rows_;
  std::vector<std::string> problems_;
  bson::Builder reply_;
};

}  // namespace

Awaitable<CommandResult> ClusterMovesCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(
      query::ReadFields(context.body(), "clusterMoves", query::FieldScope::kCommand, {}, nullptr));
  RouterState& router = context.router;
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> records,
      co_await ReadConfig(router, "jobs", bson::Document(), context.scope()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(
      const std::vector<bson::Document> routers,
      co_await ReadConfig(router, "mongos", bson::Document(), context.scope()));
  MoveReport report(router, routers);
  for (const bson::Document& record : records) {
    EVENKEEL_CO_RETURN_IF_ERROR(report.Add(record.view()));
  }
  co_return report.Finish();
}

}  // namespace evenkeel::router::local
