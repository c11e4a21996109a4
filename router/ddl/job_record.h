// The durable record of a DDL job, in config.jobs.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "router/command.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/job.h"

namespace evenkeel::router::ddl {

// Takes the job's names in one batch: a record without steps under its own, rows that point to it
// under the others. Errors: ConflictingOperationInProgress when somebody has one of them; after
// others the record may be there, for JobWatch.
Awaitable<absl::Status> TakeNames(RouterState& router, const Job& job);
// Gives the names back, in this batch.
void GiveBackNames(const Job& job, CatalogBatch* batch);
// The same now, whatever it takes; nothing to do when another run has them. Errors: only while the
// router stops.
Awaitable<absl::Status> EndRecord(RouterState& router, const Job& job);

// The record of a job that this router runs. `passed`: its point of no return lies behind it.
bson::Document RecordOf(const RouterState& router, const Job& job, bool passed);
// Errors: InvalidBSON for a damaged record.
absl::StatusOr<Job> JobFrom(bson::View record, bool* passed);
// The record of that name; empty when there is none.
Awaitable<absl::StatusOr<bson::Document>> ReadRecord(RouterState& router, std::string_view name);
// False for a row that keeps a name for the job of another one.
bool IsRecord(bson::View row);
// True for a record of this run.
bool IsRunOf(bson::View record, const Job& job);
// True when a step ended because the router stops: another one, or the next start, goes on.
bool IsStop(const RouterState& router, const absl::Status& status);
// The version of a new run.
int64_t NewVersion(const RouterState& router);
// Takes over the run in `record`: from now on its commits fail, and `job` is a run of this router.
// Errors: ConflictingOperationInProgress when the record has changed.
Awaitable<absl::Status> TakeOver(RouterState& router, bson::View record, Job* job, bool* passed);

}  // namespace evenkeel::router::ddl
