// Finishes the jobs of dead routers.
#include "router/ddl/job_watch.h"

#include <string_view>
#include <vector>

#include "base/status.h"
#include "router/config_access.h"
#include "router/ddl/ddl.h"
#include "router/ddl/job.h"
#include "router/router.h"

namespace evenkeel::router::ddl {

Awaitable<absl::Status> JobWatch::Run(RouterState& router) {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await NotePresence(router));
  EVENKEEL_CO_RETURN_IF_ERROR(co_await routers_.Look(router));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> records,
                               co_await ReadConfig(router, "jobs", bson::Document(), {}));
  for (const bson::Document& record : records) {
    const bson::Value owner = record["owner"];
    const std::string_view process =
        owner.Is(bson::Type::kObjectId) ? owner.AsObjectId() : std::string_view();
    if (process == router.process_id || !routers_.IsDead(router, process)) continue;
    const absl::Status status = co_await ResumeJob(router, record.view());
    if (!status.ok() && CodeOf(status) != ErrorCode::kConflictingOperationInProgress)
      co_return status;
  }
  co_return absl::OkStatus();
}

}  // namespace evenkeel::router::ddl
