// Reads and writes the rows of retryable writes.
#include "shard/command/retry_log.h"

#include <string>
#include <utility>

#include "base/status.h"

namespace evenkeel::shard {
namespace {

using storage::Table;

// Adds the results of a row that lie between `first` and `last`.
absl::Status AddResults(std::string_view row, int32_t first, int32_t last, StoredResults* out) {
  EVENKEEL_ASSIGN_OR_RETURN(txn::RetryRecord record, txn::DecodeRetryRecord(row));
  for (txn::StatementResult& result : record.results) {
    if (result.statement < first || result.statement > last) continue;
    out->results.push_back(std::move(result));
  }
  return absl::OkStatus();
}

}  // namespace

const txn::StatementResult* StoredResults::Of(int32_t statement) const {
  for (const txn::StatementResult& result : results) {
    if (result.statement == statement) return &result;
  }
  return nullptr;
}

absl::Status StoredResults::CheckKind(txn::StatementKind kind) const {
  for (const txn::StatementResult& result : results) {
    if (result.kind != kind) {
      return Error(ErrorCode::kIncompleteTransactionHistory,
                   "statement {} was carried out as another command with the same txnNumber",
                   result.statement);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<RetryLog> RetryLog::FromCommand(const CommandContext& context,
                                               const wire::ShardEnvelope& envelope) {
  RetryLog log;
  const bson::Value number = context.body()["txnNumber"];
  if (number.missing()) return log;
  if (context.transaction != nullptr && !context.records_statements) return log;
  const bson::Value lsid = context.body()["lsid"];
  const bson::Value id = lsid.Is(bson::Type::kObject) ? lsid.AsDocument()["id"] : bson::Value();
  if (!number.Is(bson::Type::kInt64) || !id.Is(bson::Type::kBinary) ||
      id.AsBinary().bytes.size() != 16) {
    return MakeError(ErrorCode::kInvalidOptions,
                     "txnNumber needs a session id and must be a 64-bit integer");
  }
  log.command_ =
      txn::RetryableCommand{std::string(id.AsBinary().bytes), TxnNumber{number.AsInt64()}};
  for (const auto& [key, value] : envelope.statements) {
    if (!value.Is(bson::Type::kInt32))
      return MakeError(ErrorCode::kInvalidOptions, "statement ids must be integers");
    log.statements_.push_back(value.AsInt32());
  }
  return log;
}

int32_t RetryLog::StatementId(size_t i) const {
  return i < statements_.size() ? statements_[i] : static_cast<int32_t>(i);
}

absl::StatusOr<StoredResults> RetryLog::Find(storage::WriteContext& context, int32_t first,
                                             int32_t last) const {
  StoredResults out;
  if (!command_) return out;
  const auto newest = context.Get(Table::kSessions, txn::NewestRecordKey(command_->lsid));
  out.is_first = true;
  if (!newest) return out;
  EVENKEEL_ASSIGN_OR_RETURN(const txn::RetryRecordFacts facts, txn::FactsOf(newest->value));
  if (facts.txn > command_->txn) {
    return Error(ErrorCode::kTransactionTooOld,
                 "Retryable write with txnNumber {} is prohibited on session because a newer "
                 "retryable write with txnNumber {} has already started on this session",
                 command_->txn.value, facts.txn.value);
  }
  out.is_first = facts.txn < command_->txn;
  if (out.is_first) return out;
  EVENKEEL_RETURN_IF_ERROR(AddResults(newest->value, first, last, &out));
  EVENKEEL_RETURN_IF_ERROR(FindBehind(context, first, last, &out));
  return out;
}

// Rows of slices begin anywhere before `last`; single statements lie under their own numbers.
absl::Status RetryLog::FindBehind(storage::WriteContext& context, int32_t first, int32_t last,
                                  StoredResults* out) const {
  const auto rows = context.NewCursor(Table::kSessions);
  const auto add_range = [&](txn::RowKind kind, int32_t begin) {
    const std::string end = storage::PrefixEnd(txn::RetryRecordKey(command_->lsid, kind, last));
    for (rows->Seek(txn::RetryRecordKey(command_->lsid, kind, begin), end); rows->Valid();
         rows->Next()) {
      const std::string_view row = rows->record().value;
      EVENKEEL_ASSIGN_OR_RETURN(const txn::RetryRecordFacts facts, txn::FactsOf(row));
      if (facts.txn != command_->txn || facts.last_statement < first) continue;
      EVENKEEL_RETURN_IF_ERROR(AddResults(row, first, last, out));
    }
    return absl::OkStatus();
  };
  EVENKEEL_RETURN_IF_ERROR(add_range(txn::RowKind::kSlice, INT32_MIN));
  return add_range(txn::RowKind::kStatement, first);
}

void RetryLog::Put(storage::WriteContext& context, const Collection& collection,
                   std::optional<int64_t> hash, absl::Time now, const StoredResults& stored,
                   std::vector<txn::StatementResult> results) const {
  if (!command_ || results.empty()) return;
  txn::RetryRecord record;
  record.txn = command_->txn;
  record.collection = collection.entry->id;
  if (collection.entry->sharded()) record.hash = hash;
  record.written_ms = absl::ToUnixMillis(now);
  record.results = std::move(results);
  context.Put(Table::kSessions,
              stored.is_first ? txn::NewestRecordKey(command_->lsid)
                              : txn::RetryRecordKey(command_->lsid, record),
              txn::EncodeRetryRecord(record));
}

}  // namespace evenkeel::shard
