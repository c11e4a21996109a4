// The durable record of a DDL job, in config.jobs.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "router/command.h"
#include "router/ddl/job.h"

namespace evenkeel::router::ddl {

// The record of a job that this router runs. `passed`: its point of no return lies behind it.
bson::Document RecordOf(const RouterState& router, const Job& job, bool passed);
// Errors: InvalidBSON for a damaged record.
absl::StatusOr<Job> JobFrom(bson::View record, bool* passed);
// The record of that name; empty when there is none.
Awaitable<absl::StatusOr<bson::Document>> ReadRecord(RouterState& router, std::string_view name);
// True for a record of this run.
bool IsRunOf(bson::View record, const Job& job);
// The version of a new run.
int64_t NewVersion(const RouterState& router);
// Takes over the run in `record`: from now on its commits fail, and `job` is a run of this router.
// Errors: ConflictingOperationInProgress when the record has changed.
Awaitable<absl::Status> TakeOver(RouterState& router, bson::View record, Job* job, bool* passed);

}  // namespace evenkeel::router::ddl
