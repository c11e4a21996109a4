// Writes, reads and takes over the records of DDL jobs.
#include "router/ddl/job_record.h"

#include <limits>
#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/config_access.h"
#include "router/ddl/catalog_batch.h"
#include "router/router.h"

namespace evenkeel::router::ddl {
namespace {

constexpr absl::Duration kRetryPause = absl::Milliseconds(100);

void AppendSteps(bson::Builder& builder, std::string_view name, const std::vector<Step>& steps) {
  builder.OpenArray(name);
  bson::ArrayAppender array(builder);
  for (const Step& step : steps) array.Add(step.ToBson());
  builder.Close();
}

absl::StatusOr<std::vector<Step>> StepsFrom(bson::Value array) {
  std::vector<Step> steps;
  if (!array.Is(bson::Type::kArray))
    return MakeError(ErrorCode::kInvalidBSON, "damaged job record");
  for (const auto& [key, value] : array.AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(Step step, Step::FromBson(value.AsDocument()));
    steps.push_back(std::move(step));
  }
  return steps;
}

// The row of a name besides the record's own.
bson::Document RowOf(const Job& job, std::string_view other) {
  bson::Builder row;
  row.Append("_id", other).Append("version", job.version).Append("of", job.name);
  return row.Finish();
}

}  // namespace

Awaitable<absl::Status> TakeNames(RouterState& router, const Job& job) {
  CatalogBatch batch;
  batch.Expect(catalog::kConfigJobs, job.name, false)
      .Put(catalog::kConfigJobs, RecordOf(router, job, false).view());
  for (const std::string& other : job.others) {
    batch.Expect(catalog::kConfigJobs, other, false)
        .Put(catalog::kConfigJobs, RowOf(job, other).view());
  }
  co_return co_await batch.Commit(router);
}

void GiveBackNames(const Job& job, CatalogBatch* batch) {
  batch->Remove(catalog::kConfigJobs, job.name);
  for (const std::string& other : job.others) batch->Remove(catalog::kConfigJobs, other);
}

Awaitable<absl::Status> EndRecord(RouterState& router, const Job& job) {
  while (true) {
    CatalogBatch batch;
    batch.ExpectVersion(catalog::kConfigJobs, job.name, job.version);
    GiveBackNames(job, &batch);
    const absl::Status status = co_await batch.Commit(router);
    if (status.ok() || CodeOf(status) == ErrorCode::kConflictingOperationInProgress) {
      co_return absl::OkStatus();
    }
    if (IsStop(router, status)) co_return status;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kRetryPause));
  }
}

bool IsRecord(bson::View row) { return row["of"].missing(); }

bool IsStop(const RouterState& router, const absl::Status& status) {
  return Is(status, kShutdown) && router.stop_ms.load() != std::numeric_limits<int64_t>::max();
}

bson::Document RecordOf(const RouterState& router, const Job& job, bool passed) {
  bson::Builder record;
  record.Append("_id", job.name)
      .Append("version", job.version)
      .AppendObjectId("owner", router.process_id)
      .Append("kind", job.kind)
      .Append("passed", passed);
  record.Append("noReturn", static_cast<int32_t>(job.no_return)).OpenArray("others");
  bson::ArrayAppender others(record);
  for (const std::string& other : job.others) others.Add(other);
  record.Close();
  AppendSteps(record, "steps", job.steps);
  AppendSteps(record, "undo", job.undo);
  return record.Finish();
}

absl::StatusOr<Job> JobFrom(bson::View record, bool* passed) {
  Job job;
  job.name = std::string(record["_id"].AsString());
  job.version = bson::ToInt64Exact(record["version"]).value_or(0);
  job.kind = std::string(record["kind"].AsString());
  job.no_return = static_cast<size_t>(bson::ToInt64Exact(record["noReturn"]).value_or(0));
  *passed = bson::Truthy(record["passed"]);
  if (const bson::Value others = record["others"]; others.Is(bson::Type::kArray)) {
    for (const auto& [key, other] : others.AsDocument()) job.others.emplace_back(other.AsString());
  }
  EVENKEEL_ASSIGN_OR_RETURN(job.steps, StepsFrom(record["steps"]));
  EVENKEEL_ASSIGN_OR_RETURN(job.undo, StepsFrom(record["undo"]));
  return job;
}

Awaitable<absl::StatusOr<bson::Document>> ReadRecord(RouterState& router, std::string_view name) {
  bson::Builder filter;
  filter.Append("_id", name);
  const bson::Document by_id = filter.Finish();
  EVENKEEL_CO_ASSIGN_OR_RETURN(std::vector<bson::Document> records,
                               co_await ReadConfig(router, "jobs", by_id, {}));
  co_return records.empty() ? bson::Document() : std::move(records.front());
}

bool IsRunOf(bson::View record, const Job& job) {
  return bson::ToInt64Exact(record["version"]) == job.version;
}

int64_t NewVersion(const RouterState& router) {
  return static_cast<int64_t>(router.clock->Now().bits);
}

Awaitable<absl::Status> TakeOver(RouterState& router, bson::View record, Job* job, bool* passed) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(*job, JobFrom(record, passed));
  const int64_t before = std::exchange(job->version, NewVersion(router));
  CatalogBatch batch;
  batch.ExpectVersion(catalog::kConfigJobs, job->name, before)
      .Put(catalog::kConfigJobs, RecordOf(router, *job, *passed).view());
  co_return co_await batch.Commit(router);
}

}  // namespace evenkeel::router::ddl
