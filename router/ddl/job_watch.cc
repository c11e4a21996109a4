// Finishes the jobs of dead routers.
#include "router/ddl/job_watch.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/bson/builder.h"
#include "base/status.h"
#include "router/config_access.h"
#include "router/ddl/ddl.h"
#include "router/ddl/job.h"
#include "router/ddl/move_progress.h"
#include "router/router.h"

namespace evenkeel::router::ddl {

void JobWatch::ShareMoves(RouterState& router, const std::vector<bson::Document>& routers) const {
  std::vector<bson::Document> moves;
  for (const bson::Document& row : routers) {
    const bson::Value process = row["process"], list = row["moves"];
    if (!process.Is(bson::Type::kObjectId) || !list.Is(bson::Type::kArray)) continue;
    const std::string_view id = process.AsObjectId();
    if (id == router.process_id || routers_.IsDead(router, id)) continue;
    for (const auto& [key, move] : list.AsDocument()) {
      bson::Builder told(move.AsDocument());
      moves.push_back(told.Append("router", row["_id"]).Finish());
    }
  }
  router.moves->SetOthers(std::move(moves));
}

Awaitable<absl::Status> JobWatch::Run(RouterState& router) {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await NotePresence(router));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> routers,
                               co_await routers_.Look(router));
  ShareMoves(router, routers);
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
