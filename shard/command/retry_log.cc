// Reads and writes the rows of retryable writes.
#include "shard/command/retry_log.h"

#include <string>
#include <utility>

#include "base/status.h"

namespace evenkeel::shard {
namespace {

// Dead rows removed with one write; what is left goes with the next command or when it has expired.
constexpr size_t kOlderRowsMax = 1024;

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

absl::StatusOr<StoredResults> RetryLog::Find(storage::Cursor& sessions, int32_t first,
                                             int32_t last) const {
  StoredResults out;
  if (!command_) return out;
  const std::string session = txn::SessionPrefix(command_->lsid);
  sessions.Seek(session);  // newest number first
  if (!sessions.Valid() || !sessions.key().starts_with(session)) return out;
  const TxnNumber newest = txn::TxnOfKey(sessions.key());
  if (newest > command_->txn) {
    return Error(ErrorCode::kTransactionTooOld,
                 "Retryable write with txnNumber {} is prohibited on session because a newer "
                 "retryable write with txnNumber {} has already started on this session",
                 command_->txn.value, newest.value);
  }
  out.is_first = newest < command_->txn;
  if (out.is_first) return out;
  // Rows of slices begin anywhere before `last`; single statements lie under their own numbers.
  const std::string slices_end = txn::RetryRecordKey(*command_, txn::RowKind::kSlice, last);
  for (sessions.Seek(txn::RetryRecordKey(*command_, txn::RowKind::kSlice, INT32_MIN));
       sessions.Valid() && sessions.key() <= slices_end; sessions.Next()) {
    const std::string_view row = sessions.record().value;
    EVENKEEL_ASSIGN_OR_RETURN(const int32_t row_last, txn::LastStatementOf(row));
    if (row_last >= first) EVENKEEL_RETURN_IF_ERROR(AddResults(row, first, last, &out));
  }
  const std::string singles_end = txn::RetryRecordKey(*command_, txn::RowKind::kStatement, last);
  for (sessions.Seek(txn::RetryRecordKey(*command_, txn::RowKind::kStatement, first));
       sessions.Valid() && sessions.key() <= singles_end; sessions.Next()) {
    EVENKEEL_RETURN_IF_ERROR(AddResults(sessions.record().value, first, last, &out));
  }
  return out;
}

void RetryLog::Put(storage::WriteContext& context, const Collection& collection,
                   std::string_view placement_key, absl::Time now, const StoredResults& stored,
                   std::vector<txn::StatementResult> results) const {
  if (!command_ || results.empty()) return;
  if (stored.is_first) RemoveOlder(context);
  txn::RetryRecord record;
  record.collection = collection.entry->id;
  record.placement_key = std::string(placement_key);
  record.written_ms = absl::ToUnixMillis(now);
  record.results = std::move(results);
  context.Put(storage::Table::kSessions, txn::RetryRecordKey(*command_, record),
              txn::EncodeRetryRecord(record));
}

void RetryLog::RemoveOlder(storage::WriteContext& context) const {
  const std::string session = txn::SessionPrefix(command_->lsid);
  std::vector<std::string> dead;
  const auto cursor = context.NewCursor(storage::Table::kSessions);
  for (cursor->Seek(session);
       cursor->Valid() && cursor->key().starts_with(session) && dead.size() < kOlderRowsMax;
       cursor->Next()) {
    dead.emplace_back(cursor->key());
  }
  for (const std::string& key : dead) context.Remove(storage::Table::kSessions, key);
}

}  // namespace evenkeel::shard
