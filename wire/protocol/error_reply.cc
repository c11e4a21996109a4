// Makes reply documents from results and statuses from reply documents.
#include "wire/protocol/error_reply.h"

#include <absl/strings/cord.h>
#include <absl/strings/string_view.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/bson/json.h"
#include "base/bson/number.h"
#include "base/log.h"
#include "wire/protocol/commands.h"

namespace evenkeel::wire {
namespace {

constexpr absl::string_view kDetailsUrl = "evenkeel/details";
constexpr absl::string_view kLabelsUrl = "evenkeel/labels";
constexpr std::string_view kDetailFields[] = {"keyPattern", "keyValue", "errInfo", "foundValue"};
constexpr size_t kClusterTimeHashBytes = 20;

void AppendTimes(bson::Builder& builder, const ReplyContext& context) {
  if (context.cluster_time.bits != 0) {
    builder.OpenDocument("$clusterTime").Append("clusterTime", context.cluster_time);
    // Unsigned, as from a server without keys; drivers send it back as it is.
    builder.OpenDocument("signature")
        .AppendBinary("hash", 0, std::string(kClusterTimeHashBytes, '\0'))
        .Append("keyId", int64_t{0})
        .Close()
        .Close();
  }
  if (context.operation_time.bits != 0) builder.Append("operationTime", context.operation_time);
}

// The fields behind every successful body, built once; the two times are patched into a copy.
struct SuccessTail {
  std::string bytes;  // elements without a document's length and terminator
  size_t cluster_time_at = 0;
  size_t operation_time_at = 0;

  SuccessTail() {
    // Values whose bytes occur nowhere else in the tail.
    constexpr Timestamp kCluster{0x1122334455667788u};
    constexpr Timestamp kOperation{0x99aabbccddeeff00u};
    bson::Builder builder;
    builder.Append("ok", 1.0);
    AppendTimes(builder, {.cluster_time = kCluster, .operation_time = kOperation});
    const bson::Document document = builder.Finish();
    bytes = document.bytes().substr(4, document.SizeBytes() - 5);
    cluster_time_at = bytes.find(std::string(reinterpret_cast<const char*>(&kCluster.bits), 8));
    operation_time_at = bytes.find(std::string(reinterpret_cast<const char*>(&kOperation.bits), 8));
  }
};

// Appends `elements` to the end of a document's bytes.
void AppendElements(std::string& document, std::string_view elements) {
  document.pop_back();
  document.append(elements).push_back('\0');
  const auto length = static_cast<int32_t>(document.size());
  std::memcpy(document.data(), &length, sizeof(length));
}

ErrorCode VisibleCode(ErrorCode code) {
  if (!Is(code, kInternalOnly)) return code;
  base::LogWarning("wire", "an internal error code was about to reach a client",
                   {{"code", CodeName(code)}});
  return ErrorCode::kInternalError;
}

// A document that was attached to a status.
std::optional<bson::Document> PayloadOf(const absl::Status& status, absl::string_view url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  if (!payload.has_value()) return std::nullopt;
  return bson::Document(std::string(*payload));
}

void AttachPayload(absl::Status& status, absl::string_view url, bson::View document) {
  const std::string_view bytes = document.Bytes();
  status.SetPayload(url, absl::Cord(absl::string_view(bytes.data(), bytes.size())));
}

void AppendErrorLabels(bson::Builder& builder, const absl::Status& status, ErrorCode code,
                       const ReplyContext& context) {
  if (const auto own = PayloadOf(status, kLabelsUrl)) {
    builder.AppendFields(own->view());
  } else {
    AppendLabels(builder, LabelsOf(code, context));
  }
}

void AppendDetails(bson::Builder& builder, const absl::Status& status) {
  if (const std::optional<bson::Document> details = DetailsOf(status)) {
    builder.AppendFields(details->view());
  }
}

}  // namespace

ReplyContext ReplyContextOf(const Request& request) {
  ReplyContext context;
  const GenericArguments& generic = request.generic;
  context.in_transaction = generic.autocommit.has_value();
  context.retryable_write = generic.txn_number.has_value() && !context.in_transaction;
  context.ends_transaction =
      request.facts != nullptr &&
      (request.facts->name == "commitTransaction" || request.facts->name == "abortTransaction");
  return context;
}

// Source: transactions specification, "Error Reporting Changes"; retryable writes specification,
// "Determining Retryable Errors".
std::vector<std::string_view> LabelsOf(ErrorCode code, const ReplyContext& context) {
  const bool retryable = Is(code, kRetryableWrite);
  const bool transient = context.in_transaction && !context.ends_transaction &&
                         (Is(code, kTransientTransaction) || retryable);
  const bool transient_end =
      context.ends_transaction && Is(code, kTransientTransaction) && !retryable;
  const bool retry = retryable && (context.retryable_write || context.ends_transaction);
  std::vector<std::string_view> labels;
  if (transient || transient_end) labels.push_back("TransientTransactionError");
  if (retry) labels.push_back("RetryableWriteError");
  if (retry && context.retryable_write && context.no_writes_performed)
    labels.push_back("NoWritesPerformed");
  return labels;
}

void AppendLabels(bson::Builder& builder, const std::vector<std::string_view>& labels) {
  if (labels.empty()) return;
  builder.OpenArray("errorLabels");
  bson::ArrayAppender array(builder);
  for (const std::string_view label : labels) array.Add(label);
  builder.Close();
}

bson::Document SuccessReply(bson::View body, const ReplyContext& context) {
  return SuccessReply(bson::Document(body), context);
}

bson::Document SuccessReply(bson::Document&& body, const ReplyContext& context) {
  std::string bytes = std::move(body).TakeBytes();
  if (context.cluster_time.bits != 0 && context.operation_time.bits != 0) {
    static const SuccessTail* const kTail = new SuccessTail;
    const size_t start = bytes.size() - 1;
    AppendElements(bytes, kTail->bytes);
    std::memcpy(bytes.data() + start + kTail->cluster_time_at, &context.cluster_time.bits, 8);
    std::memcpy(bytes.data() + start + kTail->operation_time_at, &context.operation_time.bits, 8);
    return bson::Document(std::move(bytes));
  }
  bson::Builder builder;
  builder.Append("ok", 1.0);
  AppendTimes(builder, context);
  const bson::Document tail = builder.Finish();
  AppendElements(bytes, std::string_view(tail.bytes()).substr(4, tail.SizeBytes() - 5));
  return bson::Document(std::move(bytes));
}

bson::Document ErrorReply(const absl::Status& status, const ReplyContext& context) {
  ErrorCode code = CodeOf(status);
  if (!context.to_peer) code = VisibleCode(code);
  bson::Builder builder;
  builder.Append("ok", 0.0);
  builder.Append("errmsg", MessageOf(status));
  builder.Append("code", static_cast<int32_t>(code));
  builder.Append("codeName", CodeName(code));
  AppendDetails(builder, status);
  AppendErrorLabels(builder, status, code, context);
  AppendTimes(builder, context);
  return builder.Finish();
}

void AppendWriteError(bson::Builder& builder, std::string_view key, int32_t index,
                      const absl::Status& status) {
  builder.OpenDocument(key).Append("index", index);
  builder.Append("code", static_cast<int32_t>(VisibleCode(CodeOf(status))));
  AppendDetails(builder, status);
  builder.Append("errmsg", MessageOf(status)).Close();
}

absl::Status DuplicateKeyError(std::string_view ns, std::string_view index_name,
                               bson::View key_pattern, bson::View key_value) {
  const bson::Value shown(bson::Type::kObject, key_value.data());
  bson::Builder details;
  details.Append("keyPattern", key_pattern).Append("keyValue", key_value);
  return WithDetails(Error(ErrorCode::kDuplicateKey,
                           "E11000 duplicate key error collection: {} index: {} dup key: {}", ns,
                           index_name, bson::ToDisplay(shown)),
                     details.Finish());
}

absl::Status WithDetails(absl::Status status, bson::View details) {
  AttachPayload(status, kDetailsUrl, details);
  return status;
}

absl::Status WithLabels(absl::Status status, const std::vector<std::string_view>& labels) {
  bson::Builder fields;
  AppendLabels(fields, labels);
  AttachPayload(status, kLabelsUrl, fields.Finish());
  return status;
}

std::optional<bson::Document> DetailsOf(const absl::Status& status) {
  return PayloadOf(status, kDetailsUrl);
}

absl::Status StatusOfReply(bson::View reply) {
  const bson::Value ok = reply["ok"];
  if (ok.missing() || bson::Truthy(ok)) return absl::OkStatus();
  const bson::Value number = reply["code"];
  const int64_t code = number.IsNumber() ? bson::ToInt64Truncated(number) : 0;
  const bson::Value message = reply["errmsg"];
  absl::Status status =
      MakeError(code == 0 ? ErrorCode::kUnknownError : static_cast<ErrorCode>(code),
                message.Is(bson::Type::kString) ? message.AsString() : "a reply without a message");
  bson::Builder details;
  for (const std::string_view field : kDetailFields) details.Append(field, reply[field]);
  const bson::Document found = details.Finish();
  return found.empty() ? status : WithDetails(std::move(status), found);
}

}  // namespace evenkeel::wire
