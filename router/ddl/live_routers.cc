// Notices routers that have stopped to show themselves.
#include "router/ddl/live_routers.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "router/config_access.h"
#include "router/router.h"

namespace evenkeel::router::ddl {

void LiveRouters::Note(bson::View row, absl::Time now) {
  const bson::Value process = row["process"], ping = row["ping"];
  if (!process.Is(bson::Type::kObjectId) || !ping.Is(bson::Type::kDate)) return;
  Seen& seen = seen_[std::string(process.AsObjectId())];
  if (seen.ping_ms == ping.AsDateMillis()) return;
  seen = {ping.AsDateMillis(), now};
}

Awaitable<absl::StatusOr<std::vector<bson::Document>>> LiveRouters::Look(RouterState& router) {
  begun_ = std::min(begun_, router.wall->Now());
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<bson::Document> routers,
                               co_await ReadConfig(router, "mongos", bson::Document(), {}));
  for (const bson::Document& row : routers) Note(row.view(), router.wall->Now());
  co_return routers;
}

bool LiveRouters::IsDead(const RouterState& router, std::string_view process_id) const {
  const absl::Time now = router.wall->Now();
  const auto seen = seen_.find(std::string(process_id));
  return now - (seen == seen_.end() ? begun_ : seen->second.since) > kSilenceMax;
}

bool LiveRouters::Leads(const RouterState& router) const {
  for (const auto& [process, seen] : seen_) {
    if (process < router.process_id && !IsDead(router, process)) return false;
  }
  return true;
}

}  // namespace evenkeel::router::ddl
