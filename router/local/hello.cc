// hello and isMaster: what this server is, as a mongos says it; also in the awaitable form of the
// drivers' monitors.
//
// Nothing that a monitor watches ever changes here, so an awaitable hello always waits its full
// time. Source: server discovery and monitoring, handshake and wire compression specifications.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/async/wait.h"
#include "base/bson/builder.h"
#include "base/bson/number.h"
#include "base/limits.h"
#include "base/status.h"
#include "router/local/local.h"
#include "router/router.h"
#include "wire/protocol/commands.h"
#include "wire/protocol/compress.h"

namespace evenkeel::router::local {
namespace {

constexpr int32_t kWireVersionMax = 21;  // of MongoDB 7.0
constexpr int64_t kTopologyCounter = 0;
constexpr size_t kMetadataBytesMax = 512;
constexpr ErrorCode kTopologyWithoutTime = Location(31368);
constexpr ErrorCode kNegativeAwaitTime = Location(31373);
constexpr ErrorCode kCounterAhead = Location(31382);
constexpr ErrorCode kMetadataTooLarge = Location(187);

absl::Status CheckMetadata(bson::View client) {
  if (client.SizeBytes() > kMetadataBytesMax) {
    return Error(kMetadataTooLarge, "the client metadata document must be at most {} bytes",
                 kMetadataBytesMax);
  }
  const bson::Value driver = client["driver"], os = client["os"];
  const bool complete =
      driver.Is(bson::Type::kObject) && driver.AsDocument()["name"].Is(bson::Type::kString) &&
      driver.AsDocument()["version"].Is(bson::Type::kString) && os.Is(bson::Type::kObject) &&
      os.AsDocument()["type"].Is(bson::Type::kString);
  if (complete) return absl::OkStatus();
  return MakeError(ErrorCode::kClientMetadataMissingField,
                   "the client metadata document lacks driver.name, driver.version or os.type");
}

absl::Status TakeMetadata(wire::ClientState& client, bson::View hello) {
  const bson::Value metadata = hello["client"];
  if (!metadata.missing()) {
    if (!metadata.Is(bson::Type::kObject)) {
      return MakeError(ErrorCode::kTypeMismatch, "the client metadata document must be an object");
    }
    if (!client.metadata.empty()) {
      return MakeError(ErrorCode::kClientMetadataCannotBeMutated,
                       "the client metadata document may only be sent in the first hello");
    }
    EVENKEEL_RETURN_IF_ERROR(CheckMetadata(metadata.AsDocument()));
    client.metadata = bson::Document(metadata.AsDocument());
  }
  client.said_hello = true;
  return absl::OkStatus();
}

// How long to wait before the reply; nothing for a plain hello.
absl::StatusOr<std::optional<absl::Duration>> AwaitTime(const RouterState& router,
                                                        bson::View hello) {
  const bson::Value known = hello["topologyVersion"], time = hello["maxAwaitTimeMS"];
  if (known.missing() && time.missing()) return std::nullopt;
  if (known.missing() || time.missing()) {
    return MakeError(kTopologyWithoutTime,
                     "topologyVersion and maxAwaitTimeMS must be given together");
  }
  if (!known.Is(bson::Type::kObject) || !time.IsNumber()) {
    return MakeError(ErrorCode::kTypeMismatch,
                     "topologyVersion must be an object and maxAwaitTimeMS a number");
  }
  const bson::Value process = known.AsDocument()["processId"];
  const bson::Value counter = known.AsDocument()["counter"];
  if (!process.Is(bson::Type::kObjectId) || !counter.Is(bson::Type::kInt64)) {
    return MakeError(ErrorCode::kTypeMismatch,
                     "topologyVersion must have an ObjectId as processId and a long as counter");
  }
  const int64_t milliseconds = bson::ToInt64Truncated(time);
  if (milliseconds < 0) {
    return MakeError(kNegativeAwaitTime, "maxAwaitTimeMS must not be negative");
  }
  // The client knew another process: it is told at once.
  if (process.AsObjectId() != router.process_id) return absl::ZeroDuration();
  if (counter.AsInt64() > kTopologyCounter) {
    return Error(kCounterAhead, "topologyVersion.counter {} is ahead of this server's",
                 counter.AsInt64());
  }
  return counter.AsInt64() < kTopologyCounter ? absl::ZeroDuration()
                                              : absl::Milliseconds(milliseconds);
}

void AppendCompression(bson::Builder& reply, bson::View hello) {
  const auto compressors = wire::NegotiateCompressors(hello);
  if (compressors.empty()) return;
  reply.OpenArray("compression");
  bson::ArrayAppender array(reply);
  for (const std::string_view name : compressors) array.Add(name);
  reply.Close();
}

bson::Document HelloReply(const CommandContext& context) {
  const RouterState& router = context.router;
  const bool old_name = context.request.facts->name == "isMaster";
  bson::Builder reply;
  const bson::Value hello_ok = context.body()["helloOk"];
  if (!hello_ok.missing() && bson::Truthy(hello_ok)) reply.Append("helloOk", true);
  reply.Append(old_name ? "ismaster" : "isWritablePrimary", true);
  reply.OpenDocument("topologyVersion")
      .AppendObjectId("processId", router.process_id)
      .Append("counter", kTopologyCounter)
      .Close();
  reply.Append("msg", "isdbgrid")
      .Append("maxBsonObjectSize", limits::kDocumentBytesMax)
      .Append("maxMessageSizeBytes", limits::kMessageBytesMax)
      .Append("maxWriteBatchSize", limits::kWriteBatchCountMax)
      .AppendDate("localTime", absl::ToUnixMillis(router.wall->Now()))
      .Append("logicalSessionTimeoutMinutes", int32_t{limits::kSessionTimeoutMinutes})
      .Append("connectionId", static_cast<int32_t>(context.client.connection_id))
      .Append("maxWireVersion", kWireVersionMax)
      .Append("minWireVersion", int32_t{0});
  AppendCompression(reply, context.body());
  return reply.Finish();
}

}  // namespace

Awaitable<CommandResult> HelloCommand(CommandContext& context) {
  EVENKEEL_CO_RETURN_IF_ERROR(TakeMetadata(context.client, context.body()));
  EVENKEEL_CO_ASSIGN_OR_RETURN(const auto wait, AwaitTime(context.router, context.body()));
  if (wait) {
    if (*wait > absl::ZeroDuration()) {
      EVENKEEL_CO_RETURN_IF_ERROR(co_await base::Sleep(*wait, context.cancelled));
    }
    context.more_to_come = context.request.message.exhaust_allowed();
  }
  co_return HelloReply(context);
}

}  // namespace evenkeel::router::local
