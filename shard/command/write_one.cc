// The single-document write: candidates from a reader, the decision on the writer.
#include "shard/command/write_one.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "shard/command/candidates.h"
#include "shard/command/keyed_locks.h"

namespace evenkeel::shard {
namespace {

// A choice that was gone is searched again this often before the statement gives up (by then its
// deadline is the better answer).
constexpr int kAttemptsMax = 10'000;

// A key may name a document that lies here and belongs to another shard: it is no match.
absl::StatusOr<bool> IsMeant(const WriteStatement& statement, std::string_view doc_key,
                             bson::View document) {
  if (!statement.collection().Owns(doc_key, document)) return false;
  return statement.Matches(document);
}

class WriteOneTask final : public WriteTask {
 public:
  WriteOneTask(const WriteStatement& statement, const RetryLog& retry,
               const WriteOneOptions& options, absl::Time now)
      : statement_(statement), retry_(retry), options_(options), now_(now) {}

  std::vector<Candidate> candidates;
  std::optional<WriteStatement::Change> ahead;  // computed from the first candidate's version
  // What is inserted when nothing matches, or why that cannot be.
  std::optional<absl::StatusOr<WriteStatement::NewDocument>> upsert;

  absl::Status status;  // of the statement
  WriteOneOutcome outcome;
  bool found = false;  // a candidate matched, or the upsert was tried

  void Execute(storage::WriteContext& context) override {
    outcome = {};
    found = false;
    status = CheckUnchanged(context, statement_.collection());
    if (!status.ok()) return;
    const int32_t id = retry_.StatementId(options_.position);
    StoredResults before;
    if (retry_.active()) {
      auto found_before = retry_.Find(context, id, id);
      status = found_before.status();
      if (!status.ok()) return;
      before = *std::move(found_before);
      status = before.CheckKind(options_.kind);
      if (!status.ok()) return;
    }
    if (const auto* stored = before.Of(id)) {
      found = true;
      outcome.replayed = true;
      outcome.stored = *stored;
      return;
    }
    const size_t mark = context.Mark();
    Choose(context, before);
    if (!status.ok()) context.RollBackTo(mark);
  }

  size_t SizeBytes() const override {
    // The new document, and what a retried statement answers with: perhaps a document too.
    size_t document = 0;
    if (!candidates.empty()) document = candidates.front().document.SizeBytes();
    if (ahead) document = std::max<size_t>(document, ahead->new_document.SizeBytes());
    if (upsert && upsert->ok())
      document = std::max<size_t>(document, (*upsert)->document.SizeBytes());
    return document * 2 + 1024;
  }
  bool IsEssential() const override { return statement_.is_delete(); }

 private:
  void Choose(storage::WriteContext& context, const StoredResults& before) {
    for (const Candidate& candidate : candidates) {
      auto record = context.Get(storage::Table::kDocs, candidate.doc_key);
      if (!record) continue;
      const bool as_seen = ahead && &candidate == &candidates.front() &&
                           candidate.version == record->commit_timestamp;
      if (as_seen) return Finish(context, before, *ahead);
      const bson::View document(record->value.data());
      const auto matches = IsMeant(statement_, candidate.doc_key, document);
      status = matches.status();
      if (!status.ok()) return;
      if (!*matches) continue;
      auto change = statement_.Apply(document);
      status = change.status();
      if (status.ok()) Finish(context, before, *change);
      return;
    }
    if (upsert) Insert(context, before);
  }

  void Finish(storage::WriteContext& context, const StoredResults& before,
              const WriteStatement::Change& change) {
    found = true;
    status = statement_.Install(context, change);
    if (!status.ok()) return;
    outcome.matched = true;
    outcome.modified = change.changed;
    if (change.leaves) outcome.leaving = change.new_document;
    if (options_.images) {
      outcome.before = change.old_document;
      if (!statement_.is_delete())
        outcome.after = change.changed ? change.new_document : change.old_document;
    }
    Record(context, before, change.changed ? std::optional(change.old_records.hash) : std::nullopt);
  }

  void Insert(storage::WriteContext& context, const StoredResults& before) {
    found = true;
    status = upsert->status();
    if (!status.ok()) return;
    const WriteStatement::NewDocument& added = **upsert;
    status =
        InstallInsert(context, statement_.collection(), {added.document.view(), added.records});
    if (!status.ok()) return;
    outcome.upserted_id = bson::OwnedValue(added.document["_id"]);
    if (options_.images) outcome.after = added.document;
    Record(context, before, added.records.hash);
  }

  void Record(storage::WriteContext& context, const StoredResults& before,
              std::optional<int64_t> hash) {
    if (!retry_.active()) return;
    txn::StatementResult result;
    result.statement = retry_.StatementId(options_.position);
    result.kind = options_.kind;
    result.matched = outcome.matched || outcome.inserted() ? 1 : 0;
    result.modified = outcome.modified ? 1 : 0;
    result.upserted = outcome.upserted_id;
    if (options_.stored_reply) result.reply = options_.stored_reply(outcome);
    std::vector<txn::StatementResult> results;
    results.push_back(std::move(result));
    retry_.Put(context, statement_.collection(), hash, now_, before, std::move(results));
  }

  const WriteStatement& statement_;
  const RetryLog& retry_;
  const WriteOneOptions& options_;
  const absl::Time now_;
};

// The candidates of a statement that is addressed by one document key: no search, one look.
absl::StatusOr<std::vector<Candidate>> LookAt(CommandContext& context,
                                              const WriteStatement& statement,
                                              std::string doc_key) {
  std::vector<Candidate> out;
  Candidate candidate{std::move(doc_key), {}, {}};
  EVENKEEL_ASSIGN_OR_RETURN(const storage::ReadSlice slice, context.Read());
  const auto record = slice.Get(storage::Table::kDocs, candidate.doc_key);
  const bson::View document = record ? bson::View(record->value.data()) : bson::View();
  if (record && IsMeant(statement, candidate.doc_key, document).value_or(false)) {
    candidate.version = record->commit_timestamp;
    candidate.document = bson::Document(document);
  }
  out.push_back(std::move(candidate));
  return out;
}

// Computes what the writer will most likely install. What fails here may not fail there: the
// statements before this one may not be visible yet.
void PrepareAhead(const WriteStatement& statement, bool may_insert, WriteOneTask* task) {
  const auto& candidates = task->candidates;
  if (!candidates.empty() && candidates.front().version != Timestamp{}) {
    auto ahead = statement.Apply(candidates.front().document.view());
    if (ahead.ok()) task->ahead = *std::move(ahead);
  } else if (may_insert) {
    task->upsert = statement.BuildUpsert();
  }
}

}  // namespace

Awaitable<absl::StatusOr<WriteOneOutcome>> WriteOne(CommandContext& context,
                                                    const WriteStatement& statement,
                                                    const RetryLog& retry, WriteOneOptions options,
                                                    CommandWrites* writes) {
  ShardService& service = context.service;
  std::optional<std::string> key = statement.PinnedDocKey();
  const bool targeted = !options.target.empty();
  if (targeted) key = options.target;
  const bool may_insert = statement.upsert() && !targeted;
  KeyedLocks::Guard guard;
  Intents::Place place;  // in line for a key that the attempt before this one has met
  bool duplicate_once = false;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    EVENKEEL_CO_RETURN_IF_ERROR(context.CheckInterrupt());
    auto task = std::make_shared<WriteOneTask>(statement, retry, options, service.wall().Now());
    if (key) {
      EVENKEEL_CO_ASSIGN_OR_RETURN(task->candidates, LookAt(context, statement, *key));
    } else {
      EVENKEEL_CO_RETURN_IF_ERROR(co_await writes->Durable());
      EVENKEEL_CO_ASSIGN_OR_RETURN(task->candidates, co_await FindFirst(context, statement));
      if (task->candidates.empty() && may_insert && !guard.held() && !context.transaction) {
        // Two upserts of one collection do not both find nothing and insert: the second searches
        // after the first is durable.
        EVENKEEL_CO_ASSIGN_OR_RETURN(
            guard, co_await service.upsert_locks().Lock(statement.collection().entry->id.value,
                                                        context.deadline, context.cancelled));
        continue;
      }
      if (task->candidates.empty() && !may_insert && !retry.active()) co_return WriteOneOutcome{};
    }
    PrepareAhead(statement, may_insert, task.get());
    const bool nothing_chosen = task->candidates.empty();
    EVENKEEL_CO_RETURN_IF_ERROR(co_await writes->Submit(context, task));
    if (guard.held()) {
      const bool waits = co_await writes->MeetsHeldKey();
      if (waits) {
        // Other upserts go on meanwhile, so everything is searched again.
        guard = KeyedLocks::Guard();
        EVENKEEL_CO_ASSIGN_OR_RETURN(place, co_await writes->AwaitKey());
        continue;
      }
    }
    EVENKEEL_CO_RETURN_IF_ERROR(co_await writes->Executed());
    place = nullptr;
    if (guard.held()) EVENKEEL_CO_RETURN_IF_ERROR(co_await writes->Durable());
    if (CodeOf(task->status) == ErrorCode::kDuplicateKey && task->upsert && !duplicate_once) {
      // Somebody has inserted what the search did not find: it may match now.
      duplicate_once = true;
      EVENKEEL_CO_RETURN_IF_ERROR(co_await writes->Durable());
      continue;
    }
    EVENKEEL_CO_RETURN_IF_ERROR(task->status);
    if (!task->outcome.leaving.empty()) {
      context.transaction->leaving.emplace_back(statement.collection().entry->ns,
                                                std::move(task->outcome.leaving));
    }
    if (task->found) co_return std::move(task->outcome);
    if (targeted) {
      task->outcome.missed = true;
      co_return std::move(task->outcome);
    }
    if (nothing_chosen || (key && !may_insert)) co_return std::move(task->outcome);
    EVENKEEL_CO_RETURN_IF_ERROR(co_await writes->Durable());
  }
  co_return MakeError(ErrorCode::kWriteConflict,
                      "the document kept changing while it was being written");
}

}  // namespace evenkeel::shard
