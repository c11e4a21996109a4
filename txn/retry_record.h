// Results of retryable writes: rows of the sessions table, written in the batch of the write
// itself.
//
// Pure encoding; the shard's commands put and read the rows. One row holds the statements of one
// slice of a command, so that a bulk insert does not double its keys. Only the newest txnNumber of
// a session counts. DESIGN: time, transactions, sessions, "Retryable writes".
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bson/document.h"
#include "base/types.h"

namespace evenkeel::txn {

// Names one retryable command of a session. `lsid` is the 16 bytes of the session's UUID.
struct RetryableCommand {
  std::string lsid;
  TxnNumber txn;
};

enum class StatementKind : uint8_t { kInsert = 1, kUpdate = 2, kDelete = 3, kFindAndModify = 4 };

// What one statement answered.
struct StatementResult {
  int32_t statement = 0;
  StatementKind kind = StatementKind::kInsert;
  int32_t matched = 0;  // documents inserted, matched or removed
  int32_t modified = 0;
  bson::OwnedValue upserted;  // the new `_id`, missing if none
  bson::Document reply;       // findAndModify: its reply's fields; else empty
};

// One row: the statements of one slice and where their documents lie.
struct RetryRecord {
  CollectionId collection;
  std::string placement_key;  // of the first document touched: moves copy the row with this place
  int64_t written_ms = 0;     // wall clock: rows expire 30 minutes later
  std::vector<StatementResult> results;
};

// Rows of several statements are few and looked through; a single statement's is found by its key.
enum class RowKind : uint8_t { kSlice = 1, kStatement = 2 };

// lsid, txnNumber (descending, so that the newest comes first), kind, lowest statement of the row.
std::string RetryRecordKey(const RetryableCommand& command, RowKind kind, int32_t first_statement);
// The key of a record's row. Requires results.
std::string RetryRecordKey(const RetryableCommand& command, const RetryRecord& record);
// Prefix of all rows of a session, and of one command.
std::string SessionPrefix(std::string_view lsid);
std::string CommandPrefix(const RetryableCommand& command);
// The txnNumber in a row's key. Requires a key made by RetryRecordKey.
TxnNumber TxnOfKey(std::string_view key);

std::string EncodeRetryRecord(const RetryRecord& record);
// Errors: InvalidBSON for a damaged row.
absl::StatusOr<RetryRecord> DecodeRetryRecord(std::string_view value);
// The highest statement of a row, without decoding the results. Errors: as DecodeRetryRecord.
absl::StatusOr<int32_t> LastStatementOf(std::string_view value);

// True when the row is older than the session timeout.
bool IsExpired(const RetryRecord& record, absl::Time now);

}  // namespace evenkeel::txn
