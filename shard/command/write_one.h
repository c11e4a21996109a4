// Writes one document for one statement: search, choose on the writer, search again if the choice
// is gone.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>

#include "shard/command/retry_log.h"
#include "shard/command/write_statement.h"
#include "shard/command/write_task.h"

namespace evenkeel::shard {

// What happened to the one document.
struct WriteOneOutcome {
  bool matched = false;
  bool modified = false;
  bool missed = false;           // the target no longer matches
  bson::OwnedValue upserted_id;  // missing: nothing was inserted
  bson::Document before, after;  // images, when asked for; empty if there is none
  bson::Document leaving;        // to be inserted on another shard; empty if there is none
  bool inserted() const { return !upserted_id.value().missing(); }
  bool replayed = false;
  txn::StatementResult stored;  // what was found, when replayed
};

struct WriteOneOptions {
  size_t position = 0;  // of the statement in its command
  std::string target;   // a document key chosen by the router; empty: search
  bool images = false;
  txn::StatementKind kind = txn::StatementKind::kUpdate;
  // The findAndModify reply that is stored with the write; may be empty.
  std::function<bson::Document(const WriteOneOutcome&)> stored_reply;
};

// Runs the statement as one more of the command's `writes`, which are waited for before a search,
// so that a statement sees its predecessors. The outcome, an error too, may be told only when they
// are durable. Errors: of the statement; StaleConfig; DuplicateKey.
Awaitable<absl::StatusOr<WriteOneOutcome>> WriteOne(CommandContext& context,
                                                    const WriteStatement& statement,
                                                    const RetryLog& retry, WriteOneOptions options,
                                                    CommandWrites* writes);

}  // namespace evenkeel::shard
