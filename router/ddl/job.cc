// Runs and recovers DDL jobs.
#include "router/ddl/job.h"

#include <algorithm>
#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/fail_point.h"
#include "base/log.h"
#include "base/status.h"
#include "catalog/config_collections.h"
#include "router/cluster.h"
#include "router/config_access.h"
#include "router/ddl/catalog_batch.h"
#include "router/ddl/copy_collection.h"
#include "router/ddl/job_record.h"
#include "router/router.h"
#include "router/session/async_mutex.h"
#include "router/shard_request.h"

namespace evenkeel::router::ddl {
namespace {

constexpr absl::Duration kConflictPause = absl::Milliseconds(10);
constexpr absl::Duration kRetryPause = absl::Milliseconds(100);
// Between looks at the record while documents are copied.
constexpr absl::Duration kLookPause = absl::Milliseconds(500);

Awaitable<absl::Status> ApplyOn(RouterState& router, const Step& step) {
  bson::Builder body;
  body.Append("_applyCatalog", int32_t{1}).OpenArray("assignments");
  bson::ArrayAppender assignments(body);
  for (const catalog::Assignment& ranges : step.assignments) assignments.Add(ranges.ToBson());
  body.Close().OpenArray("put");
  bson::ArrayAppender put(body);
  for (const catalog::CollectionEntry& entry : step.entries) put.Add(entry.ToBson());
  body.Close().OpenArray("drop");
  bson::ArrayAppender drop(body);
  for (const CollectionId id : step.drop) drop.Add(static_cast<int64_t>(id.value));
  body.Close();
  co_return (co_await router.cluster->Call(step.shard, body.Finish(), absl::InfiniteFuture(), {}))
      .status();
}

Awaitable<absl::Status> BuildOn(RouterState& router, const Step& step) {
  const catalog::CollectionEntry& entry = step.entries.front();
  bson::Builder body;
  body.Append("_buildIndex", int32_t{1}).Append("index", static_cast<int64_t>(step.index.value));
  wire::AppendEnvelope(body, {.collection = entry.id, .version = entry.version});
  co_return (co_await router.cluster->Call(step.shard, body.Finish(), absl::InfiniteFuture(), {}))
      .status();
}

// A command about the step's collection.
Awaitable<absl::Status> CallOn(RouterState& router, const Step& step, std::string_view command) {
  const catalog::CollectionEntry& entry = step.entries.front();
  bson::Builder body;
  body.Append(command, int32_t{1});
  wire::AppendEnvelope(body, {.collection = entry.id, .version = entry.version});
  co_return (co_await router.cluster->Call(step.shard, body.Finish(), absl::InfiniteFuture(), {}))
      .status();
}

// Errors: ReshardCollectionAborted when somebody has asked for that,
// ConflictingOperationInProgress when another router has taken the job over.
Awaitable<absl::Status> CheckRun(RouterState& router, std::string name, int64_t version) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document record, co_await ReadRecord(router, name));
  if (bson::ToInt64Exact(record["version"]) != version) {
    co_return Error(ErrorCode::kConflictingOperationInProgress,
                    "another router has taken over the job on {}", name);
  }
  if (bson::Truthy(record["abort"])) {
    co_return Error(ErrorCode::kReshardCollectionAborted, "the job on {} was aborted", name);
  }
  co_return absl::OkStatus();
}

Awaitable<absl::Status> Answer(absl::Status status) { co_return status; }

// Looks at the record now and then.
CheckGoOn GoesOn(RouterState& router, const Job& job) {
  auto next = std::make_shared<absl::Time>(absl::InfinitePast());
  CheckGoOn::Ask ask = [&router, name = job.name, version = job.version, next]() {
    const absl::Time now = absl::Now();
    if (now < *next) return Answer(absl::OkStatus());
    *next = now + kLookPause;
    return CheckRun(router, name, version);
  };
  return {router, std::move(ask), router.moves->Find(job.name)};
}

// For those who look on.
void ShowPhase(RouterState& router, const Job& job, const std::vector<Step>& steps, size_t at) {
  const auto move = router.moves->Find(job.name);
  if (move == nullptr) return;
  move->Enter(&steps == &job.undo ? MovePhase::kUndoing : PhaseAt(job, at));
}

Awaitable<absl::Status> RunStep(RouterState& router, const Job& job, size_t at,
                                const std::vector<Step>& steps) {
  const Step& step = steps[at];
  switch (step.kind) {
    case Step::Kind::kApply:
      co_return co_await ApplyOn(router, step);
    case Step::Kind::kBuild:
      co_return co_await BuildOn(router, step);
    case Step::Kind::kClean:
      co_return co_await CallOn(router, step, "_removeOrphans");
    case Step::Kind::kHold:
      co_return co_await CallOn(router, step, "_holdMultiWrites");
    case Step::Kind::kCopy:
      co_return co_await CopyCollection(router, step.entries[0], step.entries[1],
                                        GoesOn(router, job));
    case Step::Kind::kCatchUp:
      co_return co_await CatchUp(router, step.entries[0], step.entries[1], GoesOn(router, job));
    case Step::Kind::kFinish:
      co_return co_await CatchUpToTheEnd(router, step.entries[0], step.entries[1],
                                         GoesOn(router, job));
    case Step::Kind::kCommit: {
      CatalogBatch batch;
      batch.ExpectVersion(catalog::kConfigJobs, job.name, job.version);
      batch.AddWrites(step.writes.view());
      // The last step ends the record in its own batch; the step before the point of no return
      // notes that it is passed.
      if (at + 1 == steps.size()) {
        (void)EVENKEEL_FAIL_POINT(catalog_job_before_last);
        GiveBackNames(job, &batch);
      } else if (&steps == &job.steps && at + 1 == job.no_return) {
        batch.Put(catalog::kConfigJobs, RecordOf(router, job, true).view());
      }
      const absl::Status status = co_await batch.Commit(router);
      router.cluster->Forget(job.name);
      co_return status;
    }
  }
  co_return MakeError(ErrorCode::kInternalError, "unknown step");
}

Awaitable<void> RunStepInto(RouterState& router, const Job& job, size_t at,
                            const std::vector<Step>& steps, absl::Status& result) {
  result = co_await RunStep(router, job, at, steps);
  (void)EVENKEEL_FAIL_POINT(catalog_job_between_shards);
}

// One run of steps that may go at once: neighbouring ones on different shards.
size_t EndOfGroup(const std::vector<Step>& steps, size_t at) {
  const Step::Kind kind = steps[at].kind;
  size_t end = at + 1;
  const bool on_one_shard = kind == Step::Kind::kApply || kind == Step::Kind::kBuild ||
                            kind == Step::Kind::kClean || kind == Step::Kind::kHold;
  if (!on_one_shard) return end;
  while (end < steps.size() && steps[end].kind == kind && steps[end].shard != steps[at].shard)
    ++end;
  return end;
}

Awaitable<absl::Status> RunGroup(RouterState& router, const Job& job,
                                 const std::vector<Step>& steps, size_t begin, size_t end) {
  ShowPhase(router, job, steps, begin);
  std::vector<absl::Status> results(end - begin);
  std::vector<std::function<Awaitable<void>()>> tasks;
  for (size_t i = begin; i < end; ++i) {
    tasks.emplace_back([&router, &job, &steps, i, &result = results[i - begin]] {
      return RunStepInto(router, job, i, steps, result);
    });
  }
  co_await base::WhenAll(std::move(tasks));
  for (const absl::Status& result : results) EVENKEEL_CO_RETURN_IF_ERROR(result);
  co_return absl::OkStatus();
}

bool IsTakenOver(const absl::Status& status) {
  return CodeOf(status) == ErrorCode::kConflictingOperationInProgress;
}

// Waits for the end of a run that another router has taken over, or that this one has ended without
// hearing of it.
Awaitable<absl::Status> AwaitEnd(RouterState& router, const Job& job) {
  while (true) {
    const auto record = co_await ReadRecord(router, job.name);
    if (record.ok() && (record->empty() || !IsRunOf(record->view(), job))) {
      co_return absl::OkStatus();
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kRetryPause));
  }
}

// Repeats until it succeeds: what must be finished is finished. Errors: only at shutdown; the
// record stays then.
Awaitable<absl::Status> RunForward(RouterState& router, const Job& job,
                                   const std::vector<Step>& steps, size_t begin) {
  for (size_t at = begin; at < steps.size();) {
    const size_t end = EndOfGroup(steps, at);
    const absl::Status status = co_await RunGroup(router, job, steps, at, end);
    if (status.ok()) {
      at = end;
      continue;
    }
    if (IsStop(router, status)) co_return status;
    if (IsTakenOver(status)) co_return co_await AwaitEnd(router, job);
    base::LogWarning("ddl", "a step failed and is repeated",
                     {{"kind", job.kind}, {"name", job.name}, {"error", status}});
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kRetryPause));
  }
  co_return absl::OkStatus();
}

// The record of a job of this kind. Errors: NoSuchReshardCollection.
Awaitable<absl::StatusOr<bson::Document>> ReadJobOf(RouterState& router, std::string_view name,
                                                    std::string_view kind) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(bson::Document record, co_await ReadRecord(router, name));
  const bson::Value found = record["kind"];
  if (!found.Is(bson::Type::kString) || found.AsString() != kind ||
      bson::Truthy(record["passed"])) {
    co_return Error(ErrorCode::kNoSuchReshardCollection, "no {} is under way on {}", kind, name);
  }
  co_return record;
}

bool EndsWithCommit(const std::vector<Step>& steps) {
  return !steps.empty() && steps.back().kind == Step::Kind::kCommit;
}

// Runs the steps from `begin` on, whatever it takes, and ends the record.
Awaitable<absl::Status> RunToEnd(RouterState& router, const Job& job,
                                 const std::vector<Step>& steps, size_t begin) {
  EVENKEEL_CO_RETURN_IF_ERROR(co_await RunForward(router, job, steps, begin));
  if (EndsWithCommit(steps)) co_return absl::OkStatus();
  (void)EVENKEEL_FAIL_POINT(catalog_job_before_last);
  co_return co_await EndRecord(router, job);
}

// A step has failed, and whether the point of no return was passed may be unknown: takes the own
// run over until it is known. Returns false in `mine` when another router has taken it.
Awaitable<absl::Status> Settle(RouterState& router, Job* job, bool* passed, bool* mine) {
  while (true) {
    const auto record = co_await ReadRecord(router, job->name);
    if (record.ok()) {
      *mine = !record->empty() && IsRunOf(record->view(), *job);
      if (!*mine) co_return absl::OkStatus();
      const absl::Status taken = co_await TakeOver(router, record->view(), job, passed);
      if (taken.ok() || IsStop(router, taken)) co_return taken;
    } else if (IsStop(router, record.status())) {
      co_return record.status();
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kRetryPause));
  }
}

// Runs a job whose record is durable.
Awaitable<absl::Status> Execute(RouterState& router, Job& job) {
  for (size_t at = 0; at < job.no_return;) {
    const size_t end = std::min(EndOfGroup(job.steps, at), job.no_return);
    const absl::Status status = co_await RunGroup(router, job, job.steps, at, end);
    if (!status.ok()) {
      if (IsStop(router, status)) co_return status;
      bool passed = false, mine = false;
      EVENKEEL_CO_RETURN_IF_ERROR(co_await Settle(router, &job, &passed, &mine));
      if (!mine) co_return status;
      if (passed) break;
      EVENKEEL_CO_RETURN_IF_ERROR(co_await RunToEnd(router, job, job.undo, 0));
      co_return status;
    }
    at = end;
  }
  co_return co_await RunToEnd(router, job, job.steps, job.no_return);
}

// Where the job puts something: a shard's row has the next version as soon as it is to be drained,
// and the job was planned by what `members` say.
void ExpectShards(const Membership::Members& members, const Job& job, CatalogBatch* batch) {
  for (const auto& [shard, member] : members) {
    if (member.row.version == 0) continue;
    const auto puts = [id = shard](const Step& step) {
      return step.kind == Step::Kind::kApply && step.shard == id && !step.entries.empty();
    };
    if (std::none_of(job.steps.begin(), job.steps.end(), puts)) continue;
    batch->ExpectVersion(catalog::kConfigShards, ShardName(shard), member.row.version);
  }
}

// Makes the job and its record, which has been taken.
Awaitable<absl::StatusOr<Job>> PlanUnderRecord(RouterState& router, const Job& taken,
                                               CallScope scope, Plan plan) {
  while (true) {
    const auto members = router.cluster->members();
    EVENKEEL_CO_ASSIGN_OR_RETURN(Job job, co_await plan());
    if (job.steps.empty()) co_return job;
    job.version = taken.version;
    job.others = taken.others;
    CatalogBatch batch;
    batch.ExpectVersion(catalog::kConfigJobs, job.name, job.version)
        .Put(catalog::kConfigJobs, RecordOf(router, job, false).view());
    ExpectShards(*members, job, &batch);
    (void)EVENKEEL_FAIL_POINT(catalog_job_before_record);
    const absl::Status status = co_await batch.Commit(router);
    if (status.ok()) co_return job;
    if (!IsTakenOver(status)) co_return status;
    // The shards have changed, or another router has taken this one for dead.
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document record,
                                 co_await ReadRecord(router, job.name));
    const bool late = router.wall->Now() > scope.deadline;
    if (late || record.empty() || !IsRunOf(record.view(), job)) co_return status;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kConflictPause, scope.cancelled));
    EVENKEEL_CO_RETURN_IF_ERROR(co_await router.cluster->Refresh(scope));
  }
}

// Runs the job if all names can be taken now; else nothing is done and `begun` stays false.
Awaitable<absl::Status> TryRun(RouterState& router, Job taken, CallScope scope, Plan plan,
                               bool* begun) {
  // In this process jobs of one name queue up, in one order for all; other routers are met at the
  // record.
  std::vector<std::string> names = taken.others;
  names.push_back(taken.name);
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto guards,
                               co_await router.ddl_locks->LockAll(std::move(names), scope));
  taken.version = NewVersion(router);
  const absl::Status status = co_await TakeNames(router, taken);
  if (IsTakenOver(status)) co_return absl::OkStatus();
  *begun = true;
  EVENKEEL_CO_RETURN_IF_ERROR(status);
  (void)EVENKEEL_FAIL_POINT(catalog_job_after_names);
  auto job = co_await PlanUnderRecord(router, taken, scope, std::move(plan));
  if (!job.ok() || job->steps.empty()) {
    EVENKEEL_CO_RETURN_IF_ERROR(co_await EndRecord(router, taken));
    co_return job.status();
  }
  (void)EVENKEEL_FAIL_POINT(catalog_job_after_record);
  const MoveRun move(*router.moves, *job);
  const absl::Status result = co_await Execute(router, *job);
  move.End(result);
  router.cluster->Forget(job->name);
  co_return result;
}

// `kind` stands in the record until the job is planned.
Awaitable<absl::Status> TakeNamesAndRun(RouterState& router, std::vector<std::string> names,
                                        std::string kind, CallScope scope, Plan plan) {
  for (const std::string& ns : names) {
    // Their entries are built in: a shard that knew another version could not be asked any more.
    if (catalog::FindConfigCollection(ns) != nullptr) {
      co_return Error(ErrorCode::kIllegalOperation, "the definition of '{}' cannot be changed", ns);
    }
  }
  // What cannot be done, or needs not be, is known without a record; that is nearly all that
  // clients ask for when they start.
  {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const Job wanted, co_await plan());
    if (wanted.steps.empty()) co_return absl::OkStatus();
  }
  Job taken;
  taken.name = names.front();
  taken.others.assign(names.begin() + 1, names.end());
  taken.kind = kind;
  while (true) {
    bool begun = false;
    const absl::Status status = co_await TryRun(router, taken, scope, plan, &begun);
    if (begun || !status.ok()) co_return status;
    if (router.wall->Now() > scope.deadline) {
      co_return Error(ErrorCode::kConflictingOperationInProgress,
                      "another change of {} is under way", taken.name);
    }
    for (const std::string& name : names) {
      if (kind != kBalancing) (void)co_await AbortJob(router, name, std::string(kBalancing));
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kConflictPause, scope.cancelled));
  }
}

}  // namespace

std::vector<std::string> Names(std::string record) {
  std::vector<std::string> names;
  names.push_back(std::move(record));
  return names;
}

std::vector<std::string> Names(std::string record, std::string other) {
  std::vector<std::string> names = Names(std::move(record));
  names.push_back(std::move(other));
  return names;
}

Awaitable<absl::Status> RunJob(RouterState& router, std::vector<std::string> names, CallScope scope,
                               Plan plan) {
  for (const std::string& name : names) {
    (void)co_await AbortJob(router, name, std::string(kBalancing));  // there may be none
  }
  co_return co_await TakeNamesAndRun(router, std::move(names), "", std::move(scope),
                                     std::move(plan));
}

Awaitable<absl::Status> RunBalancingJob(RouterState& router, std::string name, CallScope scope,
                                        Plan plan) {
  co_return co_await TakeNamesAndRun(router, Names(std::move(name)), std::string(kBalancing),
                                     std::move(scope), std::move(plan));
}

Awaitable<absl::Status> ResumeJob(RouterState& router, bson::View record) {
  Job job;
  bool passed = false;
  EVENKEEL_CO_RETURN_IF_ERROR(co_await TakeOver(router, record, &job, &passed));
  const bool undo = !passed && job.no_return > 0;
  base::LogInfo("ddl", undo ? "undoing a job that was left" : "finishing a job that was left",
                {{"kind", job.kind}, {"name", job.name}});
  const MoveRun move(*router.moves, job);
  if (undo) co_return co_await RunToEnd(router, job, job.undo, 0);
  co_return co_await RunToEnd(router, job, job.steps, job.no_return);
}

Awaitable<absl::Status> AbortJob(RouterState& router, std::string name, std::string kind) {
  while (true) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(const bson::Document record,
                                 co_await ReadJobOf(router, name, kind));
    bson::Builder asked(record.view());
    asked.Append("abort", true);
    CatalogBatch batch;
    batch.ExpectVersion(catalog::kConfigJobs, name, bson::ToInt64Truncated(record["version"]))
        .Put(catalog::kConfigJobs, asked.Finish().view());
    const absl::Status status = co_await batch.Commit(router);
    if (!IsTakenOver(status)) co_return status;
  }
}

Awaitable<absl::Status> AwaitJob(RouterState& router, std::string name, std::string kind,
                                 CallScope scope) {
  EVENKEEL_CO_RETURN_IF_ERROR((co_await ReadJobOf(router, name, kind)).status());
  while (true) {
    const auto record = co_await ReadJobOf(router, name, kind);
    if (CodeOf(record.status()) == ErrorCode::kNoSuchReshardCollection) co_return absl::OkStatus();
    if (router.wall->Now() > scope.deadline) {
      co_return MakeError(ErrorCode::kMaxTimeMSExpired, "operation exceeded time limit");
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kRetryPause, scope.cancelled));
  }
}

Awaitable<absl::Status> FinishJobs(RouterState& router) {
  EVENKEEL_CO_ASSIGN_OR_RETURN(const std::vector<bson::Document> records,
                               co_await ReadConfig(router, "jobs", bson::Document(), {}));
  for (const bson::Document& record : records) {
    if (!IsRecord(record.view())) continue;
    EVENKEEL_CO_RETURN_IF_ERROR(co_await ResumeJob(router, record.view()));
  }
  co_return absl::OkStatus();
}

}  // namespace evenkeel::router::ddl
