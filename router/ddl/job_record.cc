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

bson::Document Step::ToBson() const {
  bson::Builder out;
  out.Append("kind", static_cast<int32_t>(kind)).Append("shard", static_cast<int32_t>(shard.value));
  out.OpenArray("entries");
  bson::ArrayAppender array(out);
  for (const catalog::CollectionEntry& entry : entries) array.Add(entry.ToBson());
  out.Close().OpenArray("assignments");
  bson::ArrayAppender ranges(out);
  for (const catalog::Assignment& assignment : assignments) ranges.Add(assignment.ToBson());
  out.Close().OpenArray("drop");
  bson::ArrayAppender ids(out);
  for (const CollectionId id : drop) ids.Add(static_cast<int64_t>(id.value));
  out.Close().AppendArray("writes", writes).Append("index", static_cast<int64_t>(index.value));
  return out.Finish();
}

absl::StatusOr<Step> Step::FromBson(bson::View document) {
  Step step;
  step.kind = static_cast<Kind>(document["kind"].AsInt32());
  step.shard = ShardId{static_cast<uint32_t>(document["shard"].AsInt32())};
  for (const auto& [key, value] : document["entries"].AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(catalog::CollectionEntry entry,
                              catalog::CollectionEntry::FromBson(value.AsDocument()));
    step.entries.push_back(std::move(entry));
  }
  for (const auto& [key, value] : document["assignments"].AsDocument()) {
    EVENKEEL_ASSIGN_OR_RETURN(catalog::Assignment assignment,
                              catalog::Assignment::FromBson(value.AsDocument()));
    step.assignments.push_back(std::move(assignment));
  }
  for (const auto& [key, value] : document["drop"].AsDocument()) {
    step.drop.push_back(CollectionId{static_cast<uint64_t>(value.AsInt64())});
  }
  step.writes = bson::Document(document["writes"].AsDocument());
  step.index = IndexId{static_cast<uint64_t>(document["index"].AsInt64())};
  return step;
}

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
