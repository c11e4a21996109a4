// Rows of retryable writes that come late: with a transaction, or copied from another shard.
#pragma once

#include <string_view>

#include "storage/store.h"

namespace evenkeel::shard {

// Stores a row that was made under `key` earlier, or elsewhere. One of a number that is not the
// session's newest here is left out; the session's newest row never goes back. Writer thread.
void PutRetryRow(storage::WriteContext& context, std::string_view key, std::string_view value);

}  // namespace evenkeel::shard
