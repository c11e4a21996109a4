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
#include "router/ddl/job_record.h"
#include "router/ddl/move_progress.h"
#include "router/router.h"
#include "router/session/async_mutex.h"

namespace evenkeel::router::ddl {
namespace {

constexpr absl::Duration kLockWaitMax = absl::Milliseconds(200);

}  // namespace

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

// A job of this router that is under way holds the lock of its name; one that does not has been
// left by its run, which could not know that its record was written.
Awaitable<absl::Status> JobWatch::Resume(RouterState& router, bson::View record) {
  CallScope soon;
  soon.deadline = router.wall->Now() + kLockWaitMax;
  const auto guard =
      co_await router.ddl_locks->Lock(std::string(record["_id"].AsString()), std::move(soon));
  if (!guard.ok()) co_return absl::OkStatus();  // the next time
  const absl::Status status = co_await ResumeJob(router, record);
  if (CodeOf(status) == ErrorCode::kConflictingOperationInProgress) co_return absl::OkStatus();
  co_return status;
}

Awaitable<absl::Status> JobWatch::Run(RouterState& router) {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await NotePresence(router));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> routers,
                               co_await routers_.Look(router));
  ShareMoves(router, routers);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> records,
                               co_await ReadConfig(router, "jobs", bson::Document(), {}));
  for (const bson::Document& record : records) {
    if (!IsRecord(record.view())) continue;
    const bson::Value owner = record["owner"];
    const std::string_view process =
        owner.Is(bson::Type::kObjectId) ? owner.AsObjectId() : std::string_view();
    if (process != router.process_id && !routers_.IsDead(router, process)) continue;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await Resume(router, record.view()));
  }
  co_return absl::OkStatus();
}

}  // namespace evenkeel::router::ddl
