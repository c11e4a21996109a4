// Decides on streamed replies.
#include "wire/net/exhaust.h"

#include "base/bson/builder.h"
#include "wire/protocol/commands.h"

namespace evenkeel::wire {
namespace {

constexpr std::string_view kTopologyVersion = "topologyVersion";

}  // namespace

bool MayExhaust(const Request& request) {
  if (!request.message.exhaust_allowed() || request.facts == nullptr) return false;
  return request.facts->name == "getMore" || IsAwaitableHello(request);
}

bool IsAwaitableHello(const Request& request) {
  if (request.facts == nullptr) return false;
  const std::string_view name = request.facts->name;
  return (name == "hello" || name == "isMaster") && request.body().Contains(kTopologyVersion);
}

Message NextExhaustRequest(const Message& request, bson::View reply) {
  const bson::Value version = reply[kTopologyVersion];
  if (version.missing() || !request.body.Contains(kTopologyVersion)) return request;
  bson::Builder builder;
  for (const bson::Element& field : request.body) {
    builder.Append(field.key, field.key == kTopologyVersion ? version : field.value);
  }
  Message next = MakeMessage(builder.Finish(), request.flags);
  return next;
}

}  // namespace evenkeel::wire
