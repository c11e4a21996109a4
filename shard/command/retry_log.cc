// Reads and writes the rows of retryable writes.
#include "shard/command/retry_log.h"

#include <utility>

#include "base/status.h"

namespace evenkeel::shard {

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

absl::StatusOr<std::vector<txn::StatementResult>> RetryLog::Find(storage::Cursor& sessions) const {
  std::vector<txn::StatementResult> results;
  if (!command_) return results;
  const std::string session = txn::SessionPrefix(command_->lsid);
  // Newest number first.
  for (sessions.Seek(session); sessions.Valid() && sessions.key().starts_with(session);
       sessions.Next()) {
    const TxnNumber number = txn::TxnOfKey(sessions.key());
    if (number < command_->txn) break;
    if (number > command_->txn) {
      return Error(ErrorCode::kTransactionTooOld,
                   "Retryable write with txnNumber {} is prohibited on session because a newer "
                   "retryable write with "
                   "txnNumber {} has already started on this session",
                   command_->txn.value, number.value);
    }
    EVENKEEL_ASSIGN_OR_RETURN(txn::RetryRecord record,
                              txn::DecodeRetryRecord(sessions.record().value));
    for (txn::StatementResult& result : record.results) results.push_back(std::move(result));
  }
  return results;
}

void RetryLog::Put(storage::WriteContext& context, const Collection& collection,
                   std::string_view placement_key, absl::Time now,
                   std::vector<txn::StatementResult> results) const {
  if (!command_ || results.empty()) return;
  txn::RetryRecord record;
  record.collection = collection.entry->id;
  record.placement_key = std::string(placement_key);
  record.written_ms = absl::ToUnixMillis(now);
  const int32_t first = results.front().statement;
  record.results = std::move(results);
  context.Put(storage::Table::kSessions, txn::RetryRecordKey(*command_, first),
              txn::EncodeRetryRecord(record));
}

const txn::StatementResult* FindStatement(const std::vector<txn::StatementResult>& results,
                                          int32_t statement) {
  for (const txn::StatementResult& result : results) {
    if (result.statement == statement) return &result;
  }
  return nullptr;
}

}  // namespace evenkeel::shard
