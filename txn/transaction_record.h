// Rows of transactions in the sessions table: what a shard has prepared, and what a coordinator has
// decided.
//
// Pure encoding. A prepared transaction is a run of rows, so that no row grows with the
// transaction; they are put when it is prepared and removed when its decision is applied. A
// decision is a row until every participant has applied it. DESIGN: time, transactions, sessions.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/types.h"
#include "storage/read/overlay.h"
#include "storage/table.h"

namespace evenkeel::txn {

// What a shard answers to an update that moves a document to another shard, outside transactions:
// the router carries the statement out as a transaction then. Also the code inside MongoDB's
// clusters.
inline constexpr ErrorCode kWouldChangeOwningShard = Location(283);

// Names one transaction of a session. `lsid` is the 16 bytes of the session's UUID.
struct TransactionId {
  std::string lsid;
  TxnNumber number;
  friend bool operator==(const TransactionId&, const TransactionId&) = default;
};

// NoSuchTransaction: what is said of a transaction that has ended without a commit, or never began.
absl::Status TransactionAborted(TxnNumber number);

// What a participant has promised to be able to commit.
struct PreparedTransaction {
  TransactionId id;
  ShardId coordinator;
  Timestamp read_at;
  std::vector<std::pair<CollectionId, CatalogVersion>> collections;  // written, as they were
  std::vector<std::pair<storage::Table, std::string>> claims;
  std::vector<std::pair<std::string, storage::Count>> counters;  // changes
  storage::Overlay effects;
};

// The rows, in order, of about kPartBytes each and more only where one effect needs it.
std::vector<std::string> EncodePrepared(const PreparedTransaction& transaction);
inline constexpr size_t kPartBytes = 256u << 10;
// Errors: InvalidBSON for damaged rows.
absl::StatusOr<PreparedTransaction> DecodePrepared(const std::vector<std::string>& rows);

// Where a transaction's prepared rows lie.
std::string PreparedKey(const TransactionId& id, uint32_t part);
// Where a decision lies.
std::string DecisionKey(const TransactionId& id);
// What attempts at the same statement of a session touch, wherever they come from: the first to
// touch it holds it, and a transaction that has not seen the last touch cannot have it.
std::string TouchKey(const TransactionId& command, int32_t statement);
// The same for upserts that would insert what they do not find, if they may find each other's
// document: with the same hash of what they look for, in the same collection.
std::string UpsertTouchKey(CollectionId collection, int64_t filter_hash);
// What kind of row a key of the sessions table names. Rows of retryable writes have others.
bool IsPreparedKey(std::string_view key);
bool IsDecisionKey(std::string_view key);
bool IsTouchKey(std::string_view key);
// The transaction that a prepared or decision row belongs to. Requires such a key.
TransactionId IdOfKey(std::string_view key);

struct Decision {
  Timestamp committed_at;
  std::vector<ShardId> participants;  // that may not have applied it yet
};
std::string EncodeDecision(const Decision& decision);
// Errors: InvalidBSON for a damaged row.
absl::StatusOr<Decision> DecodeDecision(std::string_view row);

}  // namespace evenkeel::txn
