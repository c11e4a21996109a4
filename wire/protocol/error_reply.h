// The one file that turns a result into reply bytes: ok, errmsg, code, codeName, errorLabels,
// $clusterTime, operationTime.
#pragma once

#include <absl/status/status.h>

#include <optional>
#include <string_view>
#include <vector>

#include "base/bson/builder.h"
#include "base/status.h"
#include "base/types.h"
#include "wire/protocol/request.h"

namespace evenkeel::wire {

// Facts that decide on labels and on what the receiver may see.
struct ReplyContext {
  Timestamp cluster_time;            // gossiped on every reply; zero: left out
  Timestamp operation_time;          // zero: left out
  bool retryable_write = false;      // the request had lsid and txnNumber outside a transaction
  bool in_transaction = false;       // the request had autocommit: false
  bool ends_transaction = false;     // it is commitTransaction or abortTransaction
  bool no_writes_performed = false;  // known that the failed statement changed nothing
  bool to_peer = false;              // the receiver is a router or shard: internal-only codes pass
};

// The context of a request from a client, times left out.
ReplyContext ReplyContextOf(const Request& request);

// The labels that an error with this code carries, as the drivers' retryable writes and
// transactions specifications want them: TransientTransactionError, RetryableWriteError,
// NoWritesPerformed.
std::vector<std::string_view> LabelsOf(ErrorCode code, const ReplyContext& context);
// Appends the array errorLabels, unless there are none.
void AppendLabels(bson::Builder& builder, const std::vector<std::string_view>& labels);

// {…body, ok: 1, $clusterTime…, operationTime…}.
bson::Document SuccessReply(bson::View body, const ReplyContext& context);
// The same without a copy of the body.
bson::Document SuccessReply(bson::Document&& body, const ReplyContext& context);

// {ok: 0, errmsg, code, codeName, details…, errorLabels?, $clusterTime…}. Internal-only codes
// become InternalError: they never reach a client. Labels: those of WithLabels, else LabelsOf.
bson::Document ErrorReply(const absl::Status& status, const ReplyContext& context);

// One entry of writeErrors: {index, code, errmsg, keyPattern?, keyValue?} for a failed statement.
void AppendWriteError(bson::Builder& builder, std::string_view key, int32_t index,
                      const absl::Status& status);

// A duplicate-key error carries its details as a payload, so that every layer passes it on:
// keyPattern and keyValue.
absl::Status DuplicateKeyError(std::string_view ns, std::string_view index_name,
                               bson::View key_pattern, bson::View key_value);

// The same error with fields that its reply shows beside code and errmsg, e.g. {errInfo: {…}}.
absl::Status WithDetails(absl::Status status, bson::View details);
// Those fields, or nothing.
std::optional<bson::Document> DetailsOf(const absl::Status& status);

// The same error with labels in place of those that follow from its code; none is fine.
absl::Status WithLabels(absl::Status status, const std::vector<std::string_view>& labels);

// An error read back from a reply {ok: 0, code, errmsg, …} of a shard, details included; OK for
// ok: 1.
absl::Status StatusOfReply(bson::View reply);

}  // namespace evenkeel::wire
