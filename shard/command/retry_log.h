// Stored results of retryable writes as the shard's commands use them: found before, put with the
// write.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "shard/command/command.h"
#include "storage/store.h"
#include "txn/retry_record.h"

namespace evenkeel::shard {

// One retryable command on its way, or none (not retryable). Statement ids come from the router.
class RetryLog {
 public:
  // From lsid, txnNumber and $shard.s of a command. Errors: InvalidOptions for malformed ones.
  static absl::StatusOr<RetryLog> FromCommand(const CommandContext& context,
                                              const wire::ShardEnvelope& envelope);

  bool active() const { return command_.has_value(); }
  // The statement id of the i-th document or statement of this request.
  int32_t StatementId(size_t i) const;

  // All results that this command has stored on this shard. Writer thread or within a slice.
  // Errors: TransactionTooOld (225) when the session has used a newer number.
  absl::StatusOr<std::vector<txn::StatementResult>> Find(storage::Cursor& sessions) const;
  // Stores results, in the batch of the write. Drops nothing: rows of older numbers are dead at
  // once.
  void Put(storage::WriteContext& context, const Collection& collection,
           std::string_view placement_key, absl::Time now,
           std::vector<txn::StatementResult> results) const;

 private:
  std::optional<txn::RetryableCommand> command_;
  std::vector<int32_t> statements_;  // empty: 0, 1, 2, …
};

// The result of one statement among `results`, or null.
const txn::StatementResult* FindStatement(const std::vector<txn::StatementResult>& results,
                                          int32_t statement);

}  // namespace evenkeel::shard
