// One command as every handler sees it: name, database, body, sequences, and the generic arguments
// parsed and checked once.
//
// Pure. Reading a request is one pass over the top level of its body and does not allocate.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "wire/protocol/message.h"

namespace evenkeel::wire {

struct CommandFacts;  // wire/protocol/commands.h: the row of this command

enum class ReadConcernLevel : uint8_t {
  kDefault,
  kLocal,
  kAvailable,
  kMajority,
  kLinearizable,
  kSnapshot
};

struct ReadConcern {
  ReadConcernLevel level = ReadConcernLevel::kDefault;
  std::optional<Timestamp> after_cluster_time;
  std::optional<Timestamp> at_cluster_time;
};

struct WriteConcern {
  bool given = false;
  bool acknowledged = true;  // false for w: 0
  bson::Value w;             // a number, a tag or an object of tags, missing if not given
  bool journal = false;
  int64_t wtimeout_ms = 0;
};

// Fields that any command may carry. Source: the manual's "Database Commands" and the drivers'
// session, API and read preference specs.
struct GenericArguments {
  bson::View lsid;              // empty if none; {id: UUID, …}
  std::string_view lsid_bytes;  // the 16 bytes of lsid.id, empty if none
  std::optional<TxnNumber> txn_number;
  bool start_transaction = false;
  std::optional<bool> autocommit;  // only false is accepted: the request belongs to a transaction
  std::optional<Timestamp> cluster_time;   // $clusterTime.clusterTime
  std::optional<absl::Duration> max_time;  // maxTimeMS; nothing if 0 or not given
  bson::Value comment;
  ReadConcern read_concern;
  WriteConcern write_concern;
  bson::View read_preference;    // {mode, tags?, …}, empty if none
  std::string_view api_version;  // "1" or empty
  bool api_strict = false;
  bool api_deprecation_errors = false;
};

struct Request {
  Message message;                      // keeps everything below alive
  std::string_view name;                // the first field's name as the client wrote it
  bson::Value argument;                 // the first field's value: usually the collection's name
  std::string_view database;            // $db
  const CommandFacts* facts = nullptr;  // null for an unknown command
  GenericArguments generic;
  // When the client stops waiting: maxTimeMS from now. Not set for getMore, where maxTimeMS is the
  // wait for new data.
  absl::Time deadline = absl::InfiniteFuture();

  bson::View body() const { return message.body; }
  bool in_transaction() const { return generic.autocommit.has_value(); }
  // The driver may send it again under the same number.
  bool is_retryable_write() const { return generic.txn_number.has_value() && !in_transaction(); }
  // The documents given as a sequence `name` or as an array field of that name.
  //
  // Errors   TypeMismatch, naming the field, for a field that is no array or an element that is no
  // document; 40414 when it is
  //          absent; InvalidLength past limits::kWriteBatchCountMax.
  absl::StatusOr<std::vector<bson::View>> Documents(std::string_view name) const;
};

// Reads names and generic arguments.
//
// now      for the deadline.
// Returns  for an unknown command a request without facts, whose generic arguments are not read:
// see CheckAllowed. Errors   MongoDB's: 72 InvalidOptions, 14 TypeMismatch, 9 FailedToParse, 2
// BadValue, 40413 to 40415 for fields, 322
//          APIVersionError, 4886600, 40571 for a missing $db, 73 for an invalid database name.
absl::StatusOr<Request> ParseRequest(Message message, absl::Time now);

// What every dispatcher checks before it calls a handler, in MongoDB's order: known (59), supported
// (115), not internal unless from a peer (59), Stable API (323), admin only (13), read and write
// concern taken (72), transactions (263, 50768).
absl::Status CheckAllowed(const Request& request, bool from_peer = false);

// True for fields that any command accepts, so that commands which refuse unknown fields (40415)
// let them pass.
bool IsGenericArgument(std::string_view field);

// True for a name that a database may have.
bool IsValidDatabaseName(std::string_view name);

// What a handler answers. An error is a Status; error_reply.h makes a document of it.
struct Reply {
  bson::Document body;  // the whole document of the reply, with ok, $clusterTime, operationTime
  // For exhaust: when set, the connection asks the handler for the next reply by itself (getMore
  // again). Ignored unless the request allowed it.
  bool more_to_come = false;
  // The connection is closed instead of being answered: a fail point wants it.
  bool close_connection = false;
};

}  // namespace evenkeel::wire
