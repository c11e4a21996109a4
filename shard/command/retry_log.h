// Stored results of retryable writes as the shard's commands use them: found before, put with the
// write.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/command/command.h"
#include "storage/store.h"
#include "txn/retry_record.h"

namespace evenkeel::shard {

// What a search among the stored results has found.
struct StoredResults {
  std::vector<txn::StatementResult> results;
  bool is_first = false;  // the session has used no number as new on this shard
  // The result of one statement, or null.
  const txn::StatementResult* Of(int32_t statement) const;
  // Errors: IncompleteTransactionHistory (217) when one is of another kind of statement: the client
  // has used the number for two commands.
  absl::Status CheckKind(txn::StatementKind kind) const;
};

// One retryable command on its way, or none (not retryable). Statement ids come from the router.
class RetryLog {
 public:
  // From lsid, txnNumber and $shard.s of a command. Statements of a transaction are not retried one
  // by one. Errors: InvalidOptions for malformed ones.
  static absl::StatusOr<RetryLog> FromCommand(const CommandContext& context,
                                              const wire::ShardEnvelope& envelope);

  bool active() const { return command_.has_value(); }
  // Requires that it is active.
  const std::string& lsid() const { return command_->lsid; }
  // The statement id of the i-th document or statement of this request.
  int32_t StatementId(size_t i) const;

  // The results that this command has stored on this shard for statements from `first` to `last`.
  // Writer thread. Nothing is found when it is not active.
  // Errors: TransactionTooOld (225) when the session has used a newer number.
  absl::StatusOr<StoredResults> Find(storage::WriteContext& context, int32_t first,
                                     int32_t last) const;
  // Stores results, in the batch of the write.
  //
  // hash    of the first document touched, if any was.
  // stored  what Find has said to the same batch.
  void Put(storage::WriteContext& context, const Collection& collection,
           std::optional<int64_t> hash, absl::Time now, const StoredResults& stored,
           std::vector<txn::StatementResult> results) const;

 private:
  absl::Status FindBehind(storage::WriteContext& context, int32_t first, int32_t last,
                          StoredResults* out) const;

  std::optional<txn::RetryableCommand> command_;
  std::vector<int32_t> statements_;  // empty: 0, 1, 2, …
};

}  // namespace evenkeel::shard
