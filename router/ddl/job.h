// A DDL job: a list of repeatable steps with a durable record, run to its end or undone.
//
// Invariants
//   I1  The record is durable before the job is planned, and its steps are in it before the first
//   one is taken; it is gone only with or after the last one.
//   I2  Every step may be done twice.
//   I3  Before its point of no return a job that fails, or that a crash has stopped, is undone;
//   after it, it is finished. I4  One job per record name at a time.
//   I5  Commits happen only while the record has the run's version: a router that was taken for
//   dead changes nothing in the catalog any more.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <functional>
#include <string>
#include <vector>

#include "router/command.h"
#include "router/ddl/step.h"

namespace evenkeel::router::ddl {

struct Job {
  std::string name;                 // the record's `_id`: the namespace
  std::vector<std::string> others;  // names that it keeps from other jobs besides
  // Names one run of it: whoever takes a job over gives it another, and commits of the run before
  // fail from then on.
  int64_t version = 0;
  std::string kind;  // the command, for people
  std::vector<Step> steps;
  std::vector<Step> undo;
  // Steps before it may be undone. 0: the job is finished whatever happens. A kCommit step stands
  // just before it otherwise.
  size_t no_return = 0;
};

// Makes the job. It looks at the catalog, where what it is about stands still meanwhile, but may be
// asked again. A job without steps: there is nothing to do.
using Plan = std::function<Awaitable<absl::StatusOr<Job>>()>;

// Takes the names (the first is the record's), makes the job by `plan`, runs it. Once its steps are
// durable it runs to its end whatever happens to the client. Errors: of the plan and of the steps:
// nothing was changed then, or what was is undone; ConflictingOperationInProgress when another job
// holds a name at the deadline; IllegalOperation for a collection of `config`.
// A job of the balancer does not stand in the way: it is asked to give up first.
Awaitable<absl::Status> RunJob(RouterState& router, std::vector<std::string> names, CallScope scope,
                               Plan plan);
// The same for a job of the kind kBalancing, which waits its turn.
Awaitable<absl::Status> RunBalancingJob(RouterState& router, std::string name, CallScope scope,
                                        Plan plan);
inline constexpr std::string_view kBalancing = "balancing";

// The names for RunJob. (GCC 12 cannot compile a braced list inside co_await.)
std::vector<std::string> Names(std::string record);
std::vector<std::string> Names(std::string record, std::string other);

// Takes over a job and runs it to its end, or undoes it. Errors: ConflictingOperationInProgress
// when somebody else has taken it over.
Awaitable<absl::Status> ResumeJob(RouterState& router, bson::View record);

// Asks whoever runs the job of that name to undo it, which it does unless it is past its point of
// no return. Errors: NoSuchReshardCollection when there is none of a kind that can be asked.
Awaitable<absl::Status> AbortJob(RouterState& router, std::string name, std::string kind);
// Waits until no job holds the name. Errors: NoSuchReshardCollection as AbortJob; MaxTimeMSExpired.
Awaitable<absl::Status> AwaitJob(RouterState& router, std::string name, std::string kind,
                                 CallScope scope);

// Finishes or undoes every job, whoever has begun it: for a router that is the only one.
Awaitable<absl::Status> FinishJobs(RouterState& router);

}  // namespace evenkeel::router::ddl
