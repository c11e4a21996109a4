// Results of retryable writes: rows of the sessions table, written in the batch of the write
// itself.
//
// Pure encoding; the shard's commands put and read the rows. One row holds the statements of one
// slice of a command, so that a bulk insert does not double its keys. Only the newest txnNumber of
// a session counts: the session's row kNewest has it, with the first results; rows of other kinds
// count when they have the same number. So a session's next command overwrites one row and looks
// for no others, and what it leaves behind is overwritten later or expires. DESIGN: time,
// transactions, sessions, "Retryable writes".
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
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
  TxnNumber txn;
  CollectionId collection;
  // Of the first document touched, in sharded collections: moves copy the row with its range.
  std::optional<int64_t> hash;
  int64_t written_ms = 0;  // wall clock: rows expire 30 minutes later
  bool committed = false;  // `txn` is a transaction, committed here; it has no results
  std::vector<StatementResult> results;
};

// Rows of several statements are few and looked through; a single statement's is found by its key.
// Rows of transactions lie beside them (txn/transaction_record.h).
enum class RowKind : uint8_t {
  kNewest = 0,
  kSlice = 1,
  kStatement = 2,
  kPrepared = 3,
  kDecision = 4,
  kTouch = 5,  // never there: what attempts of one statement conflict on
};

// lsid, kind, lowest statement of the row.
std::string RetryRecordKey(std::string_view lsid, RowKind kind, int32_t first_statement);
// The key of the session's first row.
std::string NewestRecordKey(std::string_view lsid);
// The key of a record's row behind the first one. Requires results.
std::string RetryRecordKey(std::string_view lsid, const RetryRecord& record);
// True for rows of retryable writes, by their keys.
bool IsRetryRecordKey(std::string_view key);
// The session in a row's key. Requires a key made by these functions.
std::string_view LsidOfKey(std::string_view key);

std::string EncodeRetryRecord(const RetryRecord& record);
// Errors: InvalidBSON for a damaged row.
absl::StatusOr<RetryRecord> DecodeRetryRecord(std::string_view value);
// What tells whether a row matters, without decoding its results.
struct RetryRecordFacts {
  TxnNumber txn;
  int32_t last_statement = 0;  // the highest
  bool committed = false;
};
// Errors: as DecodeRetryRecord.
absl::StatusOr<RetryRecordFacts> FactsOf(std::string_view value);

// True when the row is older than the session timeout.
bool IsExpired(const RetryRecord& record, absl::Time now);

}  // namespace evenkeel::txn
