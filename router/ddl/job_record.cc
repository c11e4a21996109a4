// Writes, reads and takes over the records of DDL jobs.
#include "router/ddl/job_record.h"

#include <utility>

#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/config_access.h"
#include "router/ddl/catalog_batch.h"
#include "router/router.h"

namespace evenkeel::router::ddl {
namespace {

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

}  // namespace

bson::Document RecordOf(const RouterState& router, const Job& job, bool passed) {
  bson::Builder record;
  record.Append("_id", job.name)
      .Append("version", job.version)
      .AppendObjectId("owner", router.process_id)
      .Append("kind", job.kind)
      .Append("passed", passed);
  record.Append("noReturn", static_cast<int32_t>(job.no_return));
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
