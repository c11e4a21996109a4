// Multi-document updates and deletes.
#include "shard/command/write_many.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/wait.h"
#include "base/status.h"
#include "shard/command/candidates.h"
#include "shard/command/multi_writes.h"
#include "shard/command/write_task.h"
#include "txn/transaction_record.h"

namespace evenkeel::shard {
namespace {

constexpr absl::Duration kReopenDelay = absl::Milliseconds(5);

// Of new documents in one slice, and one document above it: small ones may have become large.
constexpr size_t kNewBytesMax = 16u << 20;
constexpr size_t kRecordBytes = 512;  // of indexes, per document

// One slice on the writer: as many of the candidates as their new documents allow.
class WriteManyTask final : public WriteTask {
 public:
  WriteManyTask(const WriteStatement& statement, std::vector<Candidate> candidates)
      : statement_(statement), candidates_(std::move(candidates)) {}

  // Computes changes from the versions that the search saw. Reader's thread.
  void PrepareAhead() {
    ahead_.resize(candidates_.size());
    for (size_t i = 0; i < candidates_.size() && bytes_ < kNewBytesMax; ++i) {
      size_t bytes = candidates_[i].document.SizeBytes();
      if (candidates_[i].version != Timestamp{}) {
        auto change = statement_.Apply(candidates_[i].document.view());
        if (change.ok()) ahead_[i] = *std::move(change);
        if (ahead_[i]) bytes = std::max<size_t>(bytes, ahead_[i]->new_document.SizeBytes());
      }
      bytes_ += bytes + kRecordBytes;
    }
  }

  void Execute(storage::WriteContext& context) override {
    outcome = {};
    moved_to.clear();
    new_bytes_ = 0;
    outcome.status = CheckUnchanged(context, statement_.collection());
    size_t i = 0;
    for (; i < candidates_.size() && outcome.status.ok() && new_bytes_ < kNewBytesMax; ++i) {
      auto record = context.Get(storage::Table::kDocs, candidates_[i].doc_key);
      if (!record) continue;
      const bson::View document(record->value.data());
      const bool as_seen = ahead_[i] && record->commit_timestamp == candidates_[i].version;
      const size_t mark = context.Mark();
      outcome.status = as_seen ? Install(context, *ahead_[i]) : ApplyIfMatches(context, document);
      if (!outcome.status.ok()) context.RollBackTo(mark);
    }
    done_ = i;
  }

  size_t SizeBytes() const override { return bytes_; }
  bool IsEssential() const override { return statement_.is_delete(); }
  // The candidates that are still to be looked at: all, if the slice was not carried out.
  std::vector<Candidate> TakeRest() {
    if (outcome.status.ok()) {
      candidates_.erase(candidates_.begin(), candidates_.begin() + static_cast<ptrdiff_t>(done_));
    }
    return std::move(candidates_);
  }
  WriteManyOutcome outcome;
  std::vector<std::string> moved_to;  // new document keys of documents that have left their place

 private:
  static absl::Status MultiMove() {
    return MakeError(ErrorCode::kInvalidOptions,
                     "Multi-update operations are not allowed when updating the shard key field.");
  }

  absl::Status ApplyIfMatches(storage::WriteContext& context, bson::View document) {
    EVENKEEL_ASSIGN_OR_RETURN(const bool matches, statement_.Matches(document));
    if (!matches) return absl::OkStatus();
    const auto change = statement_.Apply(document);
    if (CodeOf(change.status()) == txn::kWouldChangeOwningShard) return MultiMove();
    EVENKEEL_RETURN_IF_ERROR(change.status());
    return Install(context, *change);
  }

  absl::Status Install(storage::WriteContext& context, const WriteStatement::Change& change) {
    if (change.leaves) return MultiMove();
    EVENKEEL_RETURN_IF_ERROR(statement_.Install(context, change));
    new_bytes_ += change.new_document.SizeBytes() + kRecordBytes;
    ++outcome.matched;
    if (change.changed) ++outcome.modified;
    if (change.moved()) moved_to.push_back(change.new_records.doc_key);
    return absl::OkStatus();
  }

  const WriteStatement& statement_;
  std::vector<Candidate> candidates_;
  std::vector<std::optional<WriteStatement::Change>> ahead_;
  size_t bytes_ = 1024;
  size_t new_bytes_ = 0, done_ = 0;
};

// Runs one slice, adds to `total` and leaves in `candidates` those behind it. StaleConfig: nothing
// of it was done.
Awaitable<absl::Status> WriteSlice(CommandContext& context, const WriteStatement& statement,
                                   AllCandidates* all, std::vector<Candidate>* candidates,
                                   WriteManyOutcome* total) {
  auto task = std::make_shared<WriteManyTask>(statement, std::move(*candidates));
  task->PrepareAhead();
  EVENKEEL_CO_RETURN_IF_ERROR(co_await SubmitAndWait(context, task));
  total->matched += task->outcome.matched;
  total->modified += task->outcome.modified;
  *candidates = task->TakeRest();
  EVENKEEL_CO_RETURN_IF_ERROR(task->outcome.status);
  co_return all->Skip(std::move(task->moved_to));
}

// After a step of a DDL job: takes the collection as it is now. Waits while it is closed for
// writes. Errors: QueryPlanKilled when it is gone, or its documents have moved meanwhile: which of
// them were changed is not known; MaxTimeMSExpired.
Awaitable<absl::Status> Reopen(CommandContext& context, WriteStatement* statement) {
  while (true) {
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    {
      const storage::ReadSlice slice = context.service.store().Read();
      const Collection& before = statement->collection();
      const auto entry = CatalogOf(slice).Find(before.entry->id);
      if (entry == nullptr) {
        co_return Error(ErrorCode::kQueryPlanKilled, "collection dropped: '{}'", before.entry->ns);
      }
      if (entry->retired || entry->assignment != before.entry->assignment) {
        co_return Error(ErrorCode::kQueryPlanKilled,
                        "documents of '{}' have moved while many of them were changed",
                        before.entry->ns);
      }
      if (!entry->writes_closed && entry->version != before.entry->version) {
        EVENKEEL_CO_ASSIGN_OR_RETURN(Collection now, WithRanges(entry, CatalogOf(slice)));
        now.times = before.times;
        statement->Reopen(std::move(now));
        co_return absl::OkStatus();
      }
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(kReopenDelay, context.cancelled));
  }
}

}  // namespace

Awaitable<absl::StatusOr<WriteManyOutcome>> WriteMany(CommandContext& context,
                                                      WriteStatement* statement) {
  // Moves wait for it, or a transaction starts again.
  VersionsInUse::Use use;
  if (context.transaction == nullptr) {
    EVENKEEL_CO_ASSIGN_OR_RETURN(
        use, co_await context.service.multi_writes().Begin(context, statement->collection()));
  }
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto all, AllCandidates::Start(context, *statement));
  WriteManyOutcome total;
  while (total.status.ok()) {
    auto candidates = co_await all->Next(context);
    total.status = candidates.status();
    if (!candidates.ok() || candidates->empty()) break;
    while (total.status.ok() && !candidates->empty()) {
      total.status = co_await WriteSlice(context, *statement, all.get(), &*candidates, &total);
      if (CodeOf(total.status) != ErrorCode::kStaleConfig) continue;
      if (total.matched == 0) break;  // the router routes the whole statement again
      total.status = co_await Reopen(context, statement);
    }
  }
  if (total.matched == 0) EVENKEEL_CO_RETURN_IF_ERROR(BeforeAnyChange(total.status));
  co_return total;
}

}  // namespace evenkeel::shard
