// How far the moves are that this router runs: what currentOp, clusterMoves and the log show.
//
// A move is a job that copies documents. Any thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/clock.h"

namespace evenkeel::router::ddl {

struct Job;

enum class MovePhase : uint8_t {
  kBeginning,
  kCloning,
  kCatchingUp,
  kBlockingWrites,
  kCommitting,
  kCleaning,
  kUndoing,
};
inline constexpr size_t kMovePhases = 7;
// "catching up".
std::string_view NameOf(MovePhase phase);

// What a move is, told by its job.
struct MoveFacts {
  std::string ns, kind;    // kind: the command
  bson::Document command;  // {reshardCollection: ns, key: …}
  std::string from, to;    // the shard key or the shard
  std::string uuid;        // the collection's, 16 bytes
};
// Nothing for a job that copies no documents.
std::optional<MoveFacts> FactsOf(const Job& job);
// Where the run of a job is that does this step next.
MovePhase PhaseAt(const Job& job, size_t step);

class MoveProgress {
 public:
  MoveProgress(MoveFacts facts, const base::WallClock* wall);

  const MoveFacts& facts() const { return facts_; }
  void Enter(MovePhase phase);
  // Of a source: what there is to copy.
  void AddTotals(int64_t documents, int64_t bytes);
  void Copied(int64_t documents, int64_t bytes);
  // Notes of changes that were taken over.
  void TookOver(int64_t notes);
  // Notes that are left, as far as it is known: as many as the last round has found.
  void SetLag(int64_t notes);

  // {ns, kind, command, from, to, uuid, phase, documents, documentsTotal, bytes, bytesTotal, notes,
  // lag, begun, elapsedMs, cloningMs, applyingMs, writesClosedMs, bytesPerSecond,
  // secondsLeft}; secondsLeft is absent while nobody can tell.
  bson::Document Row() const;

 private:
  absl::Duration In(MovePhase phase, absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double BytesPerSecond(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<int64_t> SecondsLeft(double bytes_per_second) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Bytes of some seconds: the rate of now and not of an hour ago.
  struct Window {
    absl::Time begun;
    int64_t bytes = 0;
  };

  const MoveFacts facts_;
  const base::WallClock* const wall_;
  const absl::Time begun_;
  mutable absl::Mutex mutex_;
  MovePhase phase_ ABSL_GUARDED_BY(mutex_) = MovePhase::kBeginning;
  absl::Time phase_begun_ ABSL_GUARDED_BY(mutex_);
  std::array<absl::Duration, kMovePhases> spent_ ABSL_GUARDED_BY(mutex_) = {};
  int64_t documents_ ABSL_GUARDED_BY(mutex_) = 0, bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t documents_total_ ABSL_GUARDED_BY(mutex_) = 0, bytes_total_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t notes_ ABSL_GUARDED_BY(mutex_) = 0, lag_ ABSL_GUARDED_BY(mutex_) = 0;
  Window before_ ABSL_GUARDED_BY(mutex_), window_ ABSL_GUARDED_BY(mutex_);
};

// The moves under way.
class MoveTable {
 public:
  explicit MoveTable(const base::WallClock* wall) : wall_(wall) {}

  // Lists a job's move, and logs that it begins. Null for a job that moves nothing.
  std::shared_ptr<MoveProgress> Begin(const Job& job);
  void End(std::string_view ns);
  // The one of this namespace, or null.
  std::shared_ptr<MoveProgress> Find(std::string_view ns) const;
  std::vector<std::shared_ptr<MoveProgress>> List() const;
  // One line for each.
  void LogAll() const;

  // Moves that other routers run, as far as their rows in config.mongos have told.
  void SetOthers(std::vector<bson::Document> rows);
  std::vector<bson::Document> Others() const;

 private:
  const base::WallClock* const wall_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<MoveProgress>, std::less<>> moves_ ABSL_GUARDED_BY(mutex_);
  std::vector<bson::Document> others_ ABSL_GUARDED_BY(mutex_);
};

// One run of a job: its move is listed while this lives.
class MoveRun {
 public:
  MoveRun(MoveTable& table, const Job& job) : table_(table), progress_(table.Begin(job)) {}
  MoveRun(const MoveRun&) = delete;
  MoveRun& operator=(const MoveRun&) = delete;
  ~MoveRun();

  // Logs how it went.
  void End(const absl::Status& status) const;

 private:
  MoveTable& table_;
  const std::shared_ptr<MoveProgress> progress_;
};

}  // namespace evenkeel::router::ddl
