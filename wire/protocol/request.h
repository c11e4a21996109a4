// One command as every handler sees it: name, database, body, sequences, and the generic arguments parsed and checked once.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"
#include "wire/protocol/message.h"

namespace evenkeel::wire {

struct CommandFacts;  // wire/protocol/commands.h: the row of this command

enum class ReadConcernLevel : uint8_t { kDefault, kLocal, kAvailable, kMajority, kLinearizable, kSnapshot };

struct ReadConcern {
  ReadConcernLevel level = ReadConcernLevel::kDefault;
  std::optional<Timestamp> after_cluster_time;
  std::optional<Timestamp> at_cluster_time;
};

struct WriteConcern {
  bool given = false;
  bool acknowledged = true;    // false for w: 0
  bson::Value w;               // a number or a tag, missing if not given
  bool journal = false;
  int64_t wtimeout_ms = 0;
};

// Fields that any command may carry. Source: the manual's "Database Commands" and the drivers' session, API and read preference specs.
struct GenericArguments {
  bson::View lsid;             // empty if none; {id: UUID, …}
  std::string_view lsid_bytes; // the 16 bytes of lsid.id, empty if none
  std::optional<TxnNumber> txn_number;
  bool start_transaction = false;
  std::optional<bool> autocommit;
  std::optional<Timestamp> cluster_time;  // $clusterTime.clusterTime
  std::optional<absl::Duration> max_time;  // maxTimeMS; nothing if 0 or not given
  bson::Value comment;
  ReadConcern read_concern;
  WriteConcern write_concern;
  bson::View read_preference;
  std::string_view api_version;  // "1" or empty
  bool api_strict = false;
  bool api_deprecation_errors = false;
};

struct Request {
  Message message;             // keeps everything below alive
  std::string_view name;       // the first field's name as the client wrote it
  bson::Value argument;        // the first field's value: usually the collection's name
  std::string_view database;   // $db
  const CommandFacts* facts = nullptr;  // null for an unknown command
  GenericArguments generic;
  absl::Time deadline = absl::InfiniteFuture();

  bson::View body() const { return message.body; }
  // The documents given as a sequence `name` or as an array field of that name.
  // Errors: TypeMismatch, naming the field; MissingField-like 40414 when it is absent; 26 ... see source.
  absl::StatusOr<std::vector<bson::View>> Documents(std::string_view name) const;
};

// Reads names and generic arguments. Errors: MongoDB's for each: 59 CommandNotFound is left to the dispatcher; 72 InvalidOptions, 14 TypeMismatch,
// 9 FailedToParse, 2 BadValue, 322 APIVersionError, 323 APIStrictError, 40571 for a missing $db, 73 for an invalid database name.
absl::StatusOr<Request> ParseRequest(Message message, absl::Time now);

// What a handler answers. An error is a Status; error_reply.h makes a document of it.
struct Reply {
  bson::Document body;         // without ok, $clusterTime, operationTime: Finish adds them
  // For exhaust: when set, the connection asks the handler for the next reply by itself (getMore again).
  bool more_to_come = false;
};

}  // namespace evenkeel::wire
