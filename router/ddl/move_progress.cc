// Counts, times and estimates of moves.
#include "router/ddl/move_progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bson/builder.h"
#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/log.h"
#include "router/cluster.h"
#include "router/ddl/job.h"

namespace evenkeel::router::ddl {
namespace {

constexpr absl::Duration kWindow = absl::Seconds(5);

bool Copies(const Step& step) {
  return step.kind == Step::Kind::kCopy || step.kind == Step::Kind::kCatchUp ||
         step.kind == Step::Kind::kFinish;
}

std::string PlaceOf(const catalog::CollectionEntry& entry) {
  return entry.sharded() ? bson::ToJson(entry.shard_key->pattern())
                         : Cluster::ShardName(entry.primary);
}

bson::Document CommandOf(const Job& job, const catalog::CollectionEntry& into) {
  bson::Builder command;
  command.Append(job.kind, job.name);
  if (into.sharded()) {
    command.Append("key", into.shard_key->pattern());
  } else {
    command.Append("toShard", Cluster::ShardName(into.primary));
  }
  return command.Finish();
}

// To two digits.
double MegabytesPerSecond(int64_t bytes, double seconds) {
  return seconds > 0 ? std::round(static_cast<double>(bytes) / 1e4 / seconds) / 100 : 0;
}

}  // namespace

std::string_view NameOf(MovePhase phase) {
  switch (phase) {
    case MovePhase::kBeginning:
      return "beginning";
    case MovePhase::kCloning:
      return "cloning";
    case MovePhase::kCatchingUp:
      return "catching up";
    case MovePhase::kBlockingWrites:
      return "blocking writes";
    case MovePhase::kCommitting:
      return "committing";
    case MovePhase::kCleaning:
      return "cleaning";
    case MovePhase::kUndoing:
      return "undoing";
  }
  return "";
}

std::optional<MoveFacts> FactsOf(const Job& job) {
  const auto copy = std::find_if(job.steps.begin(), job.steps.end(), Copies);
  if (copy == job.steps.end()) return std::nullopt;
  const catalog::CollectionEntry &from = copy->entries[0], &into = copy->entries[1];
  return MoveFacts{.ns = job.name,
                   .kind = job.kind,
                   .command = CommandOf(job, into),
                   .from = PlaceOf(from),
                   .to = PlaceOf(into),
                   .uuid = from.uuid};
}

// The steps that copy stand in order, and writes are closed behind the catching up.
MovePhase PhaseAt(const Job& job, size_t step) {
  if (step >= job.no_return) return MovePhase::kCleaning;
  MovePhase phase = MovePhase::kBeginning;
  for (size_t i = 0; i <= step; ++i) {
    switch (job.steps[i].kind) {
      case Step::Kind::kCopy:
        phase = MovePhase::kCloning;
        break;
      case Step::Kind::kCatchUp:
        phase = MovePhase::kCatchingUp;
        break;
      case Step::Kind::kHold:
        break;
      case Step::Kind::kFinish:
        phase = MovePhase::kBlockingWrites;
        break;
      default:
        if (phase == MovePhase::kBlockingWrites) phase = MovePhase::kCommitting;
        if (phase == MovePhase::kCatchingUp) phase = MovePhase::kBlockingWrites;
        break;
    }
  }
  return phase;
}

MoveProgress::MoveProgress(MoveFacts facts, const base::WallClock* wall)
    : facts_(std::move(facts)), wall_(wall), begun_(wall->Now()), phase_begun_(begun_) {}

void MoveProgress::Enter(MovePhase phase) {
  const absl::Time now = wall_->Now();
  absl::MutexLock lock(&mutex_);
  if (phase == phase_) return;
  spent_[static_cast<size_t>(phase_)] += now - phase_begun_;
  phase_ = phase;
  phase_begun_ = now;
  before_ = window_ = {now, 0};
}

void MoveProgress::AddTotals(int64_t documents, int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  documents_total_ += documents;
  bytes_total_ += bytes;
}

void MoveProgress::Copied(int64_t documents, int64_t bytes) {
  const absl::Time now = wall_->Now();
  absl::MutexLock lock(&mutex_);
  documents_ += documents;
  bytes_ += bytes;
  if (now - window_.begun > kWindow) before_ = std::exchange(window_, {now, 0});
  window_.bytes += bytes;
}

void MoveProgress::TookOver(int64_t notes) {
  absl::MutexLock lock(&mutex_);
  notes_ += notes;
}

void MoveProgress::SetLag(int64_t notes) {
  absl::MutexLock lock(&mutex_);
  lag_ = notes;
}

absl::Duration MoveProgress::In(MovePhase phase, absl::Time now) const {
  return spent_[static_cast<size_t>(phase)] +
         (phase_ == phase ? now - phase_begun_ : absl::ZeroDuration());
}

double MoveProgress::BytesPerSecond(absl::Time now) const {
  if (phase_ != MovePhase::kCloning) return 0;
  const double seconds = absl::ToDoubleSeconds(now - before_.begun);
  const int64_t bytes =
      before_.begun == window_.begun ? window_.bytes : before_.bytes + window_.bytes;
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

std::optional<int64_t> MoveProgress::SecondsLeft(double bytes_per_second) const {
  if (phase_ > MovePhase::kCatchingUp) return 0;
  if (phase_ != MovePhase::kCloning || bytes_per_second <= 0) return std::nullopt;
  const int64_t left = std::max<int64_t>(bytes_total_ - bytes_, 0);
  return static_cast<int64_t>(static_cast<double>(left) / bytes_per_second + 0.5);
}

bson::Document MoveProgress::Row() const {
  const absl::Time now = wall_->Now();
  absl::MutexLock lock(&mutex_);
  const double rate = BytesPerSecond(now);
  bson::Builder row;
  row.Append("ns", facts_.ns)
      .Append("kind", facts_.kind)
      .Append("command", facts_.command)
      .Append("from", facts_.from)
      .Append("to", facts_.to)
      .AppendBinary("uuid", 4, facts_.uuid)
      .Append("phase", NameOf(phase_))
      .Append("documents", documents_)
      .Append("documentsTotal", documents_total_)
      .Append("bytes", bytes_)
      .Append("bytesTotal", bytes_total_)
      .Append("notes", notes_)
      .Append("lag", lag_)
      .AppendDate("begun", absl::ToUnixMillis(begun_))
      .Append("elapsedMs", absl::ToInt64Milliseconds(now - begun_))
      .Append("cloningMs", absl::ToInt64Milliseconds(In(MovePhase::kCloning, now)))
      .Append("applyingMs", absl::ToInt64Milliseconds(In(MovePhase::kCatchingUp, now)))
      .Append("writesClosedMs", absl::ToInt64Milliseconds(In(MovePhase::kBlockingWrites, now) +
                                                          In(MovePhase::kCommitting, now)))
      .Append("bytesPerSecond", static_cast<int64_t>(rate));
  if (const auto left = SecondsLeft(rate)) row.Append("secondsLeft", *left);
  return row.Finish();
}

// ---- the table ----

std::shared_ptr<MoveProgress> MoveTable::Begin(const Job& job) {
  std::optional<MoveFacts> facts = FactsOf(job);
  if (!facts) return nullptr;
  base::LogInfo(
      "ddl", "a move begins",
      {{"kind", facts->kind}, {"ns", facts->ns}, {"from", facts->from}, {"to", facts->to}});
  auto progress = std::make_shared<MoveProgress>(*std::move(facts), wall_);
  absl::MutexLock lock(&mutex_);
  moves_.insert_or_assign(job.name, progress);
  return progress;
}

void MoveTable::End(std::string_view ns) {
  absl::MutexLock lock(&mutex_);
  if (const auto move = moves_.find(ns); move != moves_.end()) moves_.erase(move);
}

std::shared_ptr<MoveProgress> MoveTable::Find(std::string_view ns) const {
  absl::MutexLock lock(&mutex_);
  const auto move = moves_.find(ns);
  return move == moves_.end() ? nullptr : move->second;
}

std::vector<std::shared_ptr<MoveProgress>> MoveTable::List() const {
  absl::MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<MoveProgress>> all;
  for (const auto& [ns, progress] : moves_) all.push_back(progress);
  return all;
}

void MoveTable::LogAll() const {
  for (const auto& move : List()) {
    const bson::Document row = move->Row();
    const auto number = [&row](std::string_view field) {
      return bson::ToInt64Truncated(row[field]);
    };
    const bson::Value left = row["secondsLeft"];
    base::LogInfo("ddl", "a move goes on",
                  {{"kind", row["kind"].AsString()},
                   {"ns", row["ns"].AsString()},
                   {"phase", row["phase"].AsString()},
                   {"documents", number("documents")},
                   {"documentsTotal", number("documentsTotal")},
                   {"bytes", number("bytes")},
                   {"bytesTotal", number("bytesTotal")},
                   {"lag", number("lag")},
                   {"bytesPerSecond", number("bytesPerSecond")},
                   {"secondsLeft", left.missing() ? int64_t{-1} : left.AsInt64()}});
  }
}

void MoveTable::SetOthers(std::vector<bson::Document> rows) {
  absl::MutexLock lock(&mutex_);
  others_ = std::move(rows);
}

std::vector<bson::Document> MoveTable::Others() const {
  absl::MutexLock lock(&mutex_);
  return others_;
}

MoveRun::~MoveRun() {
  if (progress_ != nullptr) table_.End(progress_->facts().ns);
}

void MoveRun::End(const absl::Status& status) const {
  if (progress_ == nullptr) return;
  const bson::Document row = progress_->Row();
  const auto number = [&row](std::string_view field) { return bson::ToInt64Truncated(row[field]); };
  const double seconds = static_cast<double>(number("elapsedMs")) / 1000;
  base::LogInfo("ddl", "a move has ended",
                {{"kind", progress_->facts().kind},
                 {"ns", progress_->facts().ns},
                 {"outcome", status},
                 {"documents", number("documents")},
                 {"bytes", number("bytes")},
                 {"seconds", seconds},
                 {"megabytesPerSecond", MegabytesPerSecond(number("bytes"), seconds)},
                 {"notes", number("notes")},
                 {"writesClosedMs", number("writesClosedMs")}});
}

}  // namespace evenkeel::router::ddl
