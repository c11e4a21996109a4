// Notices dead routers and finishes their jobs.
#include "router/ddl/job_watch.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "router/config_access.h"
#include "router/ddl/ddl.h"
#include "router/ddl/job.h"
#include "router/router.h"

namespace evenkeel::router::ddl {

void JobWatch::Note(bson::View row, absl::Time now) {
  const bson::Value process = row["process"], ping = row["ping"];
  if (!process.Is(bson::Type::kObjectId) || !ping.Is(bson::Type::kDate)) return;
  Seen& seen = seen_[std::string(process.AsObjectId())];
  if (seen.ping_ms == ping.AsDateMillis()) return;
  seen = {ping.AsDateMillis(), now};
}

bool JobWatch::IsDead(RouterState& router, std::string_view process_id) const {
  const absl::Time now = router.wall->Now();
  const auto seen = seen_.find(std::string(process_id));
  return now - (seen == seen_.end() ? begun_ : seen->second.since) > kSilenceMax;
}

Awaitable<absl::Status> JobWatch::Run(RouterState& router) {
  begun_ = std::min(begun_, router.wall->Now());
  EVENKEEL_CO_RETURN_IF_ERROR(co_await NotePresence(router));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> routers,
                               co_await ReadConfig(router, "mongos", bson::Document(), {}));
  for (const bson::Document& row : routers) Note(row.view(), router.wall->Now());
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> records,
                               co_await ReadConfig(router, "jobs", bson::Document(), {}));
  for (const bson::Document& record : records) {
    const bson::Value owner = record["owner"];
    const std::string_view process =
        owner.Is(bson::Type::kObjectId) ? owner.AsObjectId() : std::string_view();
    if (process == router.process_id || !IsDead(router, process)) continue;
    const absl::Status status = co_await ResumeJob(router, record.view());
    if (!status.ok() && CodeOf(status) != ErrorCode::kConflictingOperationInProgress)
      co_return status;
  }
  co_return absl::OkStatus();
}

}  // namespace evenkeel::router::ddl
